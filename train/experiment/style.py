"""How the HTML page looks: on a phone and on a desk, by day and by night."""

STYLE = """\
:root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --faint: #d0d7de;
  --shade: #f6f8fa; --link: #0b5cad; --quiet: #59636e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --paper: #0d1117; --faint: #3d444d; --shade: #161b22; --link: #6cb6ff;
    --quiet: #9198a1; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 1rem 1rem 4rem; }
p, ul, nav { max-width: 60rem; }
p, li, td, th, figcaption, h1, h2, h3 { overflow-wrap: break-word; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 1rem 0; }
h2 { margin: 2.5rem 0 0.75rem; padding-bottom: 0.25rem; border-bottom: 1px solid var(--faint); }
h3 { margin: 1.75rem 0 0.5rem; }
a { color: var(--link); }
nav { margin: 1.5rem 0; padding: 0.5rem 1rem; background: var(--shade);
  border: 1px solid var(--faint); border-radius: 6px; }
nav ul { margin: 0; padding-left: 1.2rem; }
li { margin: 0.25rem 0; }
.table, .drawing { overflow-x: auto; }
.table { margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.92rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.35rem 0.75rem; border: 1px solid var(--faint); text-align: left;
  vertical-align: top; }
td { min-width: 4rem; }
thead th { background: var(--shade); vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; }
figure { margin: 1.5rem 0; }
.drawing { padding: 0.5rem; background: #ffffff; border: 1px solid var(--faint);
  border-radius: 6px; }
.drawing svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
figcaption { margin-top: 0.5rem; max-width: 60rem; color: var(--quiet); font-size: 0.92rem; }
@media print { figure, .table { break-inside: avoid; } }
"""

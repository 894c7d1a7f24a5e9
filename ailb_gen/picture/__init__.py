"""Pictures of a fabric: one model, drawn as SVG, Graphviz DOT and Mermaid."""

/** The drawings of tables: harness/report/assets/drawing.js, a script of its own before that of the page. */
declare const arena: {
  boards: Record<string, ((scene: Record<string, unknown>) => SVGElement) & {
    together: ((picks: unknown[], figures: unknown) => string[]) | null;
    stepwise: string[];
    legend: () => [SVGElement, string][];
  }>;
  svg: (tag: string, attributes: Record<string, unknown>, ...children: unknown[]) => SVGElement;
  actionKey: (action: { code: number; kind: string; text: string }) => string;
};

// The output of the demo, and how a step fails.

/** Prints the heading of a part of the demo. */
export function heading(text: string): void {
  console.log(`\n${text}\n${"─".repeat(text.length)}`);
}

/** Prints one step and its result. */
export function show(step: string, result: string): void {
  console.log(`  ${step.padEnd(62)} ${result}`);
}

/** Prints rows below column titles, each column as wide as its widest cell. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `  │ ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" │ ")} │`;
  const rule = (left: string, middle: string, right: string): string =>
    `  ${left}${widths.map((width) => "─".repeat(width + 2)).join(middle)}${right}`;
  console.log(
    [rule("┌", "┬", "┐"), line(titles), rule("├", "┼", "┤"), ...rows.map(line), rule("└", "┴", "┘")].join("\n"),
  );
}

/** Throws an Error with `message` unless `value` is true, to fail a step that had another result than expected. */
export function expect(value: boolean, message: string): asserts value {
  if (!value) throw new Error(message);
}

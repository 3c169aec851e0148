/** What a sparkline draws, in its own units. */
export interface SparklineShapes {
  /** The line, broken where values are not known. */
  line: string;
  /** What is below the line. */
  area: string;
  /** Where the last known value is; undefined when none is known. */
  end: { x: number; y: number } | undefined;
}

/** The shapes of values one after the other, as wide and as high as given. `undefined` values are not known. */
export function sparklineShapes(
  values: readonly (number | undefined)[],
  { width, height, padding }: { width: number; height: number; padding: number },
): SparklineShapes {
  const known = values.filter((value) => value !== undefined);
  const least = Math.min(...known);
  const range = Math.max(...known) - least;
  const round = (each: number): number => Math.round(each * 10) / 10;
  const x = (at: number): number => round(padding + ((width - 2 * padding) * at) / Math.max(values.length - 1, 1));
  const y = (value: number): number =>
    round(range === 0 ? height / 2 : height - padding - ((height - 2 * padding) * (value - least)) / range);
  let line = "";
  let area = "";
  let end: SparklineShapes["end"];
  for (const [at, value] of values.entries()) {
    if (value === undefined) continue;
    const isFirst = values[at - 1] === undefined;
    line += `${isFirst ? "M" : "L"}${x(at)} ${y(value)}`;
    area += `${isFirst ? `M${x(at)} ${height}` : ""}L${x(at)} ${y(value)}`;
    if (values[at + 1] === undefined) area += `L${x(at)} ${height}z`;
    end = { x: x(at), y: y(value) };
  }
  return { line, area, end };
}

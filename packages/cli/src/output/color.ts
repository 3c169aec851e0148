// When output is colored. Sources: no-color.org, force-color.org, as Node's own rules have them.
import { styleText } from "node:util";

/** What a text can be shown in. */
export type Color = "bold" | "cyan" | "dim" | "green" | "magenta" | "red" | "yellow";

/** Where something is printed. */
export interface ColorStream {
  readonly isTTY?: boolean;
}

/**
 * Whether a stream gets colors: FORCE_COLOR decides when it is set (`0` and `false` say no), then NO_COLOR, then
 * TERM=dumb; else terminals do.
 */
export function isColored(stream: ColorStream, env: NodeJS.ProcessEnv = process.env): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if (env["NO_COLOR"] || env["TERM"] === "dumb") return false;
  return stream.isTTY === true;
}

/** The text in a color; as it is without one. */
export function paint(text: string, color: Color | undefined): string {
  return color === undefined ? text : styleText(color, text, { validateStream: false });
}

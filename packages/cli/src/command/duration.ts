import { UsageFailure } from "./failure.ts";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as `250ms`, `90s`, `15m`, `1h30m` or `7d` in milliseconds; undefined for other text. */
export function durationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/gy))
    sum += Number(count) * (UNIT_MS[unit ?? ""] ?? 0);
  return sum;
}

const UNITS = Object.entries(UNIT_MS).toSorted(([, one], [, other]) => other - one);

/** A duration as `durationMs` reads it, in the largest units that give it whole: `7d`, `1d12h`; `0s` for none. */
export function durationText(ms: number): string {
  let rest = Math.round(ms);
  let text = "";
  for (const [unit, size] of UNITS) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0) text += `${n}${unit}`;
  }
  return text === "" ? "0s" : text;
}

/** The duration of a flag in milliseconds. Throws a UsageFailure that names the flag. */
export function durationOfFlag(flag: string, text: string): number {
  const ms = durationMs(text);
  if (ms === undefined)
    throw new UsageFailure(`must be a duration such as 90s, 15m or 1h, not ${text}`, { field: flag });
  return ms;
}

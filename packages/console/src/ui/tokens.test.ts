import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

// The contrast of WCAG 2.2 (1.4.3 and 1.4.11) of every pair of tokens that the console puts over each other, in both
// themes. A pair that a page needs is added here first.
const SURFACES = ["--canvas", "--surface", "--surface-2", "--surface-3", "--overlay"];
const TEXT: readonly (readonly [text: string, backgrounds: readonly string[]])[] = [
  ["--text", [...SURFACES, "--accent-soft", "--critical-soft", "--medium-soft", "--success-soft"]],
  ["--text-2", [...SURFACES, "--accent-soft", "--critical-soft", "--medium-soft", "--success-soft"]],
  ["--text-3", [...SURFACES]],
  ["--accent", [...SURFACES, "--accent-soft"]],
  ["--accent-hover", [...SURFACES, "--accent-soft"]],
  ["--on-accent", ["--accent", "--accent-hover"]],
  ["--critical-text", ["--critical-soft", "--surface", "--overlay", "--surface-2"]],
  ["--high-text", ["--high-soft", "--surface", "--overlay", "--surface-2"]],
  ["--medium-text", ["--medium-soft", "--surface", "--overlay", "--surface-2"]],
  ["--low-text", ["--low-soft", "--surface", "--overlay", "--surface-2"]],
  ["--success-text", ["--success-soft", "--surface", "--overlay", "--surface-2"]],
  ["--danger", ["--surface", "--overlay", "--surface-2", "--surface-3"]],
  ["--on-danger", ["--danger"]],
];
// What is no text but has to be seen: outlines of inputs, the focus, fills of severities, the switch that is on.
const MARKS: readonly (readonly [mark: string, backgrounds: readonly string[]])[] = [
  ["--line-control", ["--surface", "--overlay"]],
  ["--focus", [...SURFACES]],
  ["--accent", ["--surface", "--overlay"]],
  ["--critical", ["--surface", "--overlay"]],
  ["--high", ["--surface", "--overlay"]],
  ["--medium", ["--surface"]],
  ["--low", ["--surface", "--overlay"]],
  ["--unknown", ["--surface"]],
  ["--success", ["--surface"]],
];
const THEMES = ["light", "dark"] as const;
const MIN_TEXT = 4.5;
const MIN_MARK = 3;

// Hairlines and soft outlines carry no meaning.
const DECORATIVE = ["--line", "--line-strong", "--accent-line"];
/** Those of CSS Color 4 that a reader with colors of their own has chosen for what the tokens are for. */
const SYSTEM_COLORS = new Set(["Canvas", "CanvasText", "LinkText", "ButtonText", "Highlight", "GrayText"]);

const css = readFileSync(join(import.meta.dirname, "tokens.css"), "utf8");
const tokens = tokensOf(css);

/** The colors of the tokens, light and dark, as `#rrggbb`. */
function tokensOf(css: string): Map<string, readonly [light: string, dark: string]> {
  const found = css.matchAll(/(--[a-z0-9-]{1,40}): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g);
  return new Map([...found].map(([, name = "", light = "", dark = ""]) => [name, [light, dark]]));
}

/** Source: WCAG 2.2, relative luminance. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function tooLow(pairs: typeof TEXT, min: number): string[] {
  const wrong: string[] = [];
  for (const [front, backs] of pairs)
    for (const back of backs)
      for (const [at, theme] of THEMES.entries()) {
        const [one, other] = [tokens.get(front)?.[at], tokens.get(back)?.[at]];
        if (one === undefined || other === undefined) wrong.push(`${front} on ${back}: no such token`);
        else if (contrast(one, other) < min)
          wrong.push(`${front} on ${back}, ${theme}: ${contrast(one, other).toFixed(2)}`);
      }
  return wrong;
}

test("the formula gives the ratios that WCAG gives", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.equal(contrast("#777777", "#ffffff").toFixed(2), "4.48");
});

test("every text can be read on every ground that it stands on, in both themes", () => {
  assert.deepEqual(tooLow(TEXT, MIN_TEXT), []);
});

test("outlines, focus and fills of severities stand out from their ground, in both themes", () => {
  assert.deepEqual(tooLow(MARKS, MIN_MARK), []);
});

test("every color is among the pairs, or carries no meaning", () => {
  const known = new Set([...TEXT, ...MARKS].flatMap(([front, backs]) => [front, ...backs]));
  assert.deepEqual(
    [...tokens.keys()].filter((name) => !known.has(name) && !DECORATIVE.includes(name)),
    [],
  );
});

test("with the reader's own colors, texts, lines and the accent are theirs, and stand on theirs", () => {
  const block = /@media \(forced-colors: active\) \{([^]*?)\n\}/.exec(css)?.[1] ?? "";
  const forced = new Map(
    [...block.matchAll(/(--[a-z0-9-]{1,40}): (\w{1,40});/g)].map(([, name = "", color = ""]) => [name, color]),
  );
  const needed = ["--text", "--text-2", "--text-3", "--line", "--line-strong", "--line-control", "--focus", "--accent"];
  assert.deepEqual(
    needed.filter((name) => !SYSTEM_COLORS.has(forced.get(name) ?? "")),
    [],
  );
  // What is not text has the reader's colors for texts and marks, never that of the ground.
  for (const [name, color] of forced) assert.equal(color === "Canvas", name.startsWith("--on-"), name);
});

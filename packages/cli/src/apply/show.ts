// What `moorage apply` says on standard error: a diff for each resource, and the sum.
import { ApiFailure, type Json } from "../api/rest.ts";
import { lineOf } from "../command/failure.ts";
import { type Color, isColored, paint } from "../output/color.ts";
import { printable } from "../printable.ts";
import type { Applied } from "./all.ts";
import type { Action, Outcome } from "./one.ts";
import { type Declared, isSecretPath } from "./parse.ts";
import { type Place, placeText } from "./source.ts";

const MOST_CHARS = 200;

/** How an action is said: as done, and as what a dry run would do. */
const WORDS: Readonly<Record<Action, readonly [done: string, would: string]>> = {
  created: ["created", "would be created"],
  updated: ["updated", "would be updated"],
  deleted: ["deleted", "would be deleted"],
  unchanged: ["unchanged", "unchanged"],
  failed: ["failed", "would fail"],
  skipped: ["skipped", "would be skipped"],
  kept: ["kept", "would be kept"],
};

/** Writes what became of resources. */
export interface Printer {
  show(applied: Applied): void;
  line(text: string, color?: Color): void;
  /** The number of resources by what became of them. */
  sum(actions: readonly Action[]): void;
}

/** Writes to standard error, in colors where it shows them. */
export function createPrinter(isDryRun: boolean, stream: NodeJS.WriteStream = process.stderr): Printer {
  const colors = isColored(stream);
  const line = (text: string, color?: Color): void =>
    void stream.write(`${paint(printable(text), colors ? color : undefined)}\n`);
  return {
    line,
    show({ declared, outcome }) {
      for (const [text, color] of linesOf(declared, outcome, isDryRun)) line(text, color);
    },
    sum(actions) {
      const counts = Object.keys(WORDS).flatMap((action) => {
        const count = actions.filter((each) => each === action).length;
        return count === 0 ? [] : [`${count} ${WORDS[action as Action][isDryRun ? 1 : 0]}`];
      });
      const isSame = actions.every((action) => action === "unchanged");
      const all = `${actions.length} ${actions.length === 1 ? "resource" : "resources"}`;
      line(isSame ? `${all}: no change` : `${all}: ${counts.join(", ")}`);
    },
  };
}

type Line = readonly [text: string, color?: Color];

function linesOf(declared: Declared, outcome: Outcome, isDryRun: boolean): Line[] {
  const { label, spec } = declared;
  const { action, changes, after, error, secret } = outcome;
  if (action === "unchanged") return [];
  const at = placeOf(declared, error);
  if (action === "failed") return [[`${placeText(at)}: ${label}: ${lineOf(error)}`, "red"]];
  if (action === "skipped") return [[`${placeText(at)}: ${label}: skipped, as ${lineOf(error)}`, "yellow"]];
  const sign = action === "created" ? "+" : "~";
  const isMade = isDryRun && after !== undefined ? `, after ${after} is made (the server was not asked)` : "";
  const fileName = new Map(Object.entries(spec.renamed).map(([own, renamed]) => [renamed, own]));
  return [
    [`${sign} ${label}${isMade}`, "bold"],
    ...changes.flatMap(({ path, before, after: next }): Line[] => {
      const isSecret = isSecretPath(spec, path);
      const name = fileName.get(path) ?? path;
      const old: Line[] =
        before === undefined || before === null ? [] : [[`  - ${name}: ${valueText(before, declared, path)}`, "red"]];
      return [...old, [`  + ${name}: ${isSecret ? "(secret)" : valueText(next, declared, path)}`, "green"]];
    }),
    ...(secret === undefined ? [] : [[`  secret, shown this once: ${secret}`, "cyan"] as const]),
  ];
}

/** Where the field stands that the server does not accept; else the whole document. */
function placeOf({ at, places }: Declared, error: unknown): Place {
  const [violation] = error instanceof ApiFailure ? error.fieldViolations : [];
  return (violation && places.get(violation.field)) ?? at;
}

/** A value in one line, without the secrets in it. */
function valueText(value: Json | undefined, { spec }: Declared, path: string): string {
  const hide = (each: Json, at: string): Json =>
    isSecretPath(spec, at)
      ? "(secret)"
      : Array.isArray(each)
        ? each.map((one) => hide(one, at))
        : typeof each === "object" && each !== null
          ? Object.fromEntries(Object.entries(each).map(([name, one]) => [name, hide(one, `${at}.${name}`)]))
          : each;
  const hidden = hide(value ?? null, path);
  const text = typeof hidden === "string" && /^[\w./:@ -]+$/.test(hidden) ? hidden : JSON.stringify(hidden);
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text;
}

// The formats of `-o`.
import { nearest } from "@moorage/kernel/lib/near";
import { InvalidArgumentError } from "commander";
import { UsageFailure } from "../command/failure.ts";
import { chosenContext } from "../config/contexts.ts";

const PLAIN = ["table", "wide", "json", "yaml", "name", "id", "csv"] as const;
const WITH_EXPRESSION = ["jsonpath", "template"] as const;

/** How a command prints data. `jq`: by the filter of `--jq`. */
export type Format =
  | { readonly kind: (typeof PLAIN)[number] }
  | { readonly kind: (typeof WITH_EXPRESSION)[number] | "jq"; readonly expression: string };

/** The formats, for help and errors. */
export const FORMATS = [...PLAIN, ...WITH_EXPRESSION.map((name) => `${name}=…`)].join(", ");

/** What each prints, in a few words. */
export const FORMAT_HELP: Readonly<Record<string, string>> = {
  table: "columns for people",
  wide: "more columns",
  json: "as the API answers",
  yaml: "the same as YAML",
  name: "names alone, a line each",
  id: "uids alone, a line each",
  csv: "columns for spreadsheets",
  "jsonpath=": "what an expression such as $..name selects",
  "template=": "a text such as {{name}} for each",
};

/** What decides the format. */
export interface FormatFlags {
  output?: string;
  jq?: string;
  context?: string;
}

/** Reads the value of `-o`. Undefined for what is no format. */
export function parseFormat(text: string): Format | undefined {
  const kind = PLAIN.find((name) => name === text);
  if (kind !== undefined) return { kind };
  const [, name, expression = ""] = /^(jsonpath|template)=(.+)$/s.exec(text) ?? [];
  const withExpression = WITH_EXPRESSION.find((known) => known === name);
  return withExpression && { kind: withExpression, expression };
}

/** For commander: checks the value of `-o` while the command line is read. */
export function checkedFormat(text: string): string {
  if (parseFormat(text) === undefined) throw new InvalidArgumentError(problemOf(text));
  return text;
}

function problemOf(text: string): string {
  const [, bare] = /^(jsonpath|template)=?$/.exec(text) ?? [];
  if (bare !== undefined)
    return `${bare} needs an expression, such as ${bare === "jsonpath" ? "jsonpath='$..name'" : "template='{{name}}'"}.`;
  const [near] = nearest(text, PLAIN);
  return `There ${near === undefined ? "are" : `is ${near}; all are`} ${FORMATS}.`;
}

/**
 * The format: of `--jq` or `-o`, of MOORAGE_OUTPUT, of the context, or else a table. Throws a UsageFailure for one that
 * is not there, and for `--jq` together with another format than json.
 */
export function formatOf({ output, jq, context }: FormatFlags): Format {
  if (jq !== undefined) {
    if (output !== undefined && output !== "json") throw new UsageFailure(`--jq filters JSON: leave out -o ${output}`);
    return { kind: "jq", expression: jq };
  }
  const [text, field] =
    output !== undefined
      ? [output, "--output"]
      : process.env["MOORAGE_OUTPUT"]
        ? [process.env["MOORAGE_OUTPUT"], "MOORAGE_OUTPUT"]
        : [chosenContext(context)?.output || "table", "the context's output"];
  const format = parseFormat(text);
  if (format === undefined) throw new UsageFailure(`${text} is no format. ${problemOf(text)}`, { field });
  return format;
}

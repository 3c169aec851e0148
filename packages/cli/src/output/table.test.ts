import assert from "node:assert/strict";
import { stripVTControlCharacters } from "node:util";
import { test } from "node:test";
import type { Column } from "./listing.ts";
import { rowsOf, Table, type TableStyle } from "./table.ts";
import { widthOf } from "./width.ts";

const COLUMNS: readonly Column[] = ["NAME", "COUNT", "DESCRIPTION"].map((header) => ({
  header,
  value: () => "",
  right: header === "COUNT",
  flexible: header === "DESCRIPTION",
}));
const PIPE: TableStyle = { wide: false, headers: true, terminal: false, columns: Infinity, colored: false };
const TERMINAL: TableStyle = { ...PIPE, terminal: true, columns: 40 };

const row = (...cells: string[]) => ({ cells, colors: cells.map(() => undefined) });

test("columns are aligned, by what letters take, with numbers on the right", () => {
  assert.equal(
    new Table(COLUMNS, PIPE).lines([row("acme/日本", "7", "one"), row("acme", "1200", "")]),
    "NAME       COUNT  DESCRIPTION\nacme/日本      7  one\nacme        1200\n",
  );
});

test("later blocks keep the widths of the first, or widen them, without a second line of headers", () => {
  const table = new Table(COLUMNS, PIPE);
  table.lines([row("a-long-name", "1", "x")]);
  assert.equal(table.lines([row("b", "2", "y")]), "b                2  y\n");
  assert.equal(table.lines([row("an-even-longer-name", "3", "z")]), "an-even-longer-name      3  z\n");
});

test("on a terminal words give way first, and no line is wider than it", () => {
  const words = "what it is good for, in many more words than there is space for";
  const lines = new Table(COLUMNS, TERMINAL).lines([row("acme/payments", "3", words)]).split("\n");
  assert.equal(lines[1], "acme/payments      3  what it is good f…");
  for (const columns of [10, 20, 25, 40, 80]) {
    const drawn = new Table(COLUMNS, { ...TERMINAL, columns }).lines([row("acme/日本語の名前", "3", words)]);
    for (const line of drawn.split("\n")) assert.ok(widthOf(line) <= columns, `${columns}: ${line}`);
  }
});

test("nothing is cut in a pipe, nor in wide", () => {
  const long = "x".repeat(500);
  for (const style of [PIPE, { ...TERMINAL, wide: true }])
    assert.ok(new Table(COLUMNS, style).lines([row(long, "1", long)]).endsWith(`${long}      1  ${long}\n`));
});

test("colors do not move columns", () => {
  const colored = new Table(COLUMNS, { ...TERMINAL, colored: true }).lines([
    { cells: ["acme", "3", "a word"], colors: ["red", "dim", undefined] },
  ]);
  assert.ok(colored.includes("\u001b[31macme\u001b[39m      \u001b[2m3\u001b[22m"), colored);
  assert.equal(stripVTControlCharacters(colored), "NAME  COUNT  DESCRIPTION\nacme      3  a word\n");
});

test("what is not known says so in a table, and is an empty cell in CSV", async () => {
  const columns: Column[] = [
    { header: "BYTES", kind: "bytes", missing: "unknown", value: ({ bytes }) => String(bytes ?? "") },
  ];
  const cells = async (form: "short" | "whole" | "raw"): Promise<unknown> =>
    (await rowsOf([{ bytes: "0" }, {}], columns, form, 0, async (uid) => uid)).map((row) => row.cells[0]);
  assert.deepEqual(await cells("raw"), ["0", ""]);
  for (const form of ["short", "whole"] as const) assert.equal(((await cells(form)) as string[])[1], "unknown");
});

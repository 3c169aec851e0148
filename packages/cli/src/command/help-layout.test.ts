import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "commander";
import { wholeProgram } from "../program.ts";

const COLUMNS = 80;

test("the help of every command fits a terminal of 80 columns", async () => {
  const texts = helpOf(await wholeProgram());
  assert.ok(texts.length > 200, `${texts.length} commands`);
  const wide = texts.flatMap((text) => text.split("\n")).filter((line) => line.length > COLUMNS);
  assert.deepEqual(wide, []);
});

function helpOf(command: Command): string[] {
  command.configureOutput({ getOutHelpWidth: () => COLUMNS });
  let text = "";
  command.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp();
  return [text, ...command.commands.flatMap(helpOf)];
}

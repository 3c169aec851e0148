import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { command } from "@moorage/kernel/core/command";
import { byName, COMMANDS, commandNamed } from "./commands.ts";

const PACKAGES = join(import.meta.dirname, "../../..");
const DECLARED = /^(?:export )?const (\w+) = (?:pushC|publishC|c)ommand\(\s*"([^"]+)"/gm;

test("every command that is declared is registered, under its own name", () => {
  const declared: string[] = [];
  for (const file of globSync("*/src/**/*.ts", { cwd: PACKAGES })) {
    if (file.endsWith(".test.ts")) continue;
    const [, , folder = ""] = file.split("/", 3);
    for (const [, constant, name = ""] of readFileSync(join(PACKAGES, file), "utf8").matchAll(DECLARED)) {
      assert.equal(name, constant === "callMethod" ? "method" : `${folder}.${constant}`, file);
      declared.push(name);
    }
  }
  assert.ok(declared.length > 40);
  assert.deepEqual(COMMANDS.map(({ name }) => name).toSorted(), declared.toSorted());
});

test("two commands cannot have the same name, and an unregistered one cannot be run", () => {
  const one = command("test.doNothing", async () => undefined);
  assert.equal(byName([one]).get("test.doNothing"), one);
  assert.throws(() => byName([one, command("test.doNothing", async () => undefined)]), /test\.doNothing/);
  assert.throws(() => commandNamed("test.doNothing"), /test\.doNothing/);
});

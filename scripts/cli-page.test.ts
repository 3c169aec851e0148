import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { manualPages } from "./cli-manual.ts";
import { cliPage } from "./cli-page.ts";
import { documentedProgram } from "./cli-tree.ts";

const EXAMPLES = join(dirname(import.meta.dirname), "docs/cli");

function copied(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "moorage-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(EXAMPLES, folder, { recursive: true });
  return folder;
}

test("a command without an example that is run, and an example of no command, are faults of docs/cli", async (t) => {
  const program = await documentedProgram();
  const folder = copied(t);
  program.command("new").description("does something new");
  assert.throws(() => cliPage(program, folder), /no example for: new$/);
  const file = join(folder, "command.md");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, `${text}\n## new\nNothing is run.\n`);
  assert.throws(() => cliPage(program, folder), /new has no command that is run/);
  writeFileSync(file, `${text}\n## new\n\`\`\`sh\nmoorage new\n\`\`\`\n\n## other\n\`\`\`sh\nmoorage other\n\`\`\`\n`);
  assert.throws(() => cliPage(program, folder), /examples of no command: other$/);
});

test("each command of the first level has a man page, in which roff takes nothing of the texts for its own", async (t) => {
  const program = await documentedProgram();
  program.command("new").description('.SH is no macro here, nor \\fB a font; it\'s "quoted" …');
  const folder = copied(t);
  writeFileSync(join(folder, "new.md"), "## new\n```sh\n.moorage new --flag 'a\\b'\n```\n");
  const pages = manualPages(program, folder, { version: "1.2.3", date: "2026-01-31" });
  for (const name of ["moorage", ...program.commands.map((each) => `moorage-${each.name()}`)])
    assert.match(
      pages.get(`${name}.1`) ?? "",
      /^\.TH "MOORAGE.*" "1" "2026-01-31" "moorage 1\.2\.3" "Moorage"$/m,
      name,
    );
  const page = pages.get("moorage-new.1") ?? "";
  assert.match(page, /^\\&\.SH is no macro here, nor \\efB a font; it\\\(aqs "quoted" \\\[u2026\]\.$/m);
  assert.match(page, /^\\&\.moorage new \\-\\-flag \\\(aqa\\eb\\\(aq$/m);
});

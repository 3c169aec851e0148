// Writes docs/settings.md from the settings that the server reads. With --check it only reports whether the committed
// page is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { flagOf, type Setting, SETTINGS } from "../packages/kernel/src/config/index.ts";

const HEAD = `# Settings

<!-- Written by \`npm run generate\` out of packages/kernel/src/config/settings.ts: change it there. -->

Every setting is an environment variable, and a flag of \`moorage serve\`; a flag wins. An empty value is as good as none. A wrong one ends the start with
a line that names it. Durations are written \`250ms\`, \`90s\`, \`15m\`, \`1h\` or \`7d\`; lists are separated by commas.
`;
const page = join(dirname(import.meta.dirname), "docs/settings.md");
const written = settingsPage(SETTINGS);
if (!process.argv.includes("--check")) {
  writeFileSync(page, written);
} else if (readFileSync(page, "utf8") !== written) {
  console.error("docs/settings.md is out of date: run `npm run generate` and commit what it changes");
  process.exitCode = 1;
}

function settingsPage(settings: readonly Setting[]): string {
  const rows = settings.map(
    (setting) => `| \`${setting.name}\` | \`${flagOf(setting)}\` | ${defaultOf(setting)} | ${meaningOf(setting)} |`,
  );
  return `${HEAD}\n${["| variable | flag | default | meaning |", "|---|---|---|---|", ...rows].join("\n")}\n`;
}

function defaultOf({ fallback }: Setting): string {
  return fallback === "" ? "" : `\`${fallback}\``;
}

function meaningOf({ help, secret }: Setting): string {
  const text = help.replaceAll("|", "\\|");
  return secret === true
    ? `${text} **Secret**: rather a variable than a flag, which other users of the machine can see.`
    : text;
}

// npm run screenshots [-- NAME…]: takes the pages of the design, or those named, from a server of its own with a team's
// images: at three widths, light and dark, into build/screenshots, and those of docs/console.md into docs/images.
// Whoever runs it looks at them: nothing overlaps, nothing is cut. `--documents` takes those of the documents alone.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { looksAt } from "../packages/console/test/support/pictures/pages.ts";
import { openShowcase, takePictures } from "../packages/console/test/support/pictures/take.ts";

const WIDTHS = [1440, 1024, 390];
const DOCUMENT_LOOK = "1440-light";
const root = dirname(import.meta.dirname);
const [folder, documents] = [join(root, "build/screenshots"), join(root, "docs/images")];

const args = process.argv.slice(2);
const isForDocuments = args.includes("--documents");
const names = args.filter((arg) => !arg.startsWith("--"));
const opened = await openShowcase();
if (opened === undefined) {
  console.error("no Chromium on this machine: apt-get install chromium");
  process.exit(1);
}
const { console_, pages } = opened;
const unknown = names.filter((name) => !pages.some((page) => page.name === name));
if (unknown.length > 0) console.error(`no page is named ${unknown.join(", ")}`);
const chosen = pages.filter(
  ({ name, document }) => (names.length === 0 || names.includes(name)) && (!isForDocuments || document !== undefined),
);
try {
  for (const each of [folder, documents]) mkdirSync(each, { recursive: true });
  const widths = isForDocuments ? WIDTHS.slice(0, 1) : WIDTHS;
  await takePictures({ ...opened, pages: chosen }, looksAt(widths), ({ page, name, screen }) => {
    writeFileSync(join(folder, `${name}.png`), screen);
    if (page.document !== undefined && name.endsWith(DOCUMENT_LOOK))
      writeFileSync(join(documents, `${page.document}.png`), screen);
    console.log(`build/screenshots/${name}.png: ${page.path}`);
  });
  if (console_.complaints.length > 0) console.error(console_.complaints.join("\n"));
} finally {
  await console_.close();
}
process.exit(unknown.length > 0 ? 1 : 0);

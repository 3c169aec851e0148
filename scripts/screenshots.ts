// npm run screenshots [-- NAME…]: takes the pages of the design, or those named, from a server of its own with a team's
// images: at three widths, light and dark, into build/screenshots, and those of docs/console.md into docs/images.
// Whoever runs it looks at them: nothing overlaps, nothing is cut. `--documents` takes those of the documents alone.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { looksAt } from "../packages/console/test/support/pictures/pages.ts";
import { takePictures } from "../packages/console/test/support/pictures/take.ts";
import { openPages } from "./console-pages.ts";

const WIDTHS = [1440, 1024, 390];
const DOCUMENT_LOOK = "1440-light";
const root = dirname(import.meta.dirname);
const [folder, documents] = [join(root, "build/screenshots"), join(root, "docs/images")];

const args = process.argv.slice(2);
const isForDocuments = args.includes("--documents");
const names = args.filter((arg) => !arg.startsWith("--"));
const opened = await openPages(names);
const { console_ } = opened;
const chosen = opened.pages.filter(({ document }) => !isForDocuments || document !== undefined);
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
process.exit(opened.isWrong ? 1 : 0);

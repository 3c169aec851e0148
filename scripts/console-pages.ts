import { openShowcase } from "../packages/console/test/support/pictures/take.ts";

/**
 * Opens the console with a team's data in a browser, and chooses the pages of the design that are named; all without
 * names. Ends the program where there is no Chromium, and says which names no page has: `isWrong` then.
 */
export async function openPages(names: readonly string[]) {
  const opened = await openShowcase();
  if (opened === undefined) {
    console.error("no Chromium on this machine: apt-get install chromium");
    process.exit(1);
  }
  const unknown = names.filter((name) => !opened.pages.some((page) => page.name === name));
  if (unknown.length > 0) console.error(`no page is named ${unknown.join(", ")}`);
  const pages = opened.pages.filter(({ name }) => names.length === 0 || names.includes(name));
  return { ...opened, pages, isWrong: unknown.length > 0 };
}

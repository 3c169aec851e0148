// Where those who say what an image holds do not agree.
import { textIn, textsIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { printMessage } from "../output/output.ts";

/** A package, who says that the image holds it, and who names it in other versions. */
export interface Disagreement {
  purl: string;
  sources: string[];
  by: JsonObject[];
}

const MOST = 10;

/** What another source says, such as `layers: 1.2.0`. */
export function contradictionText(contradiction: JsonObject): string {
  return `${sourceText(textIn(contradiction, "source"))}: ${textsIn(contradiction, "versions").join(", ")}`;
}

/** Says of each package who names it, and who names other versions. `total`: how many there are in all. */
export function noteDisagreements(all: readonly Disagreement[], total?: number): void {
  const found = [...new Map(all.map((each) => [each.purl, each])).values()];
  const lines = found.slice(0, MOST).map(({ purl, sources, by }) => {
    return `  ${purl} (${sources.map(sourceText).join(", ")}) but ${by.map(contradictionText).join("; ")}`;
  });
  if (lines.length === 0) return;
  const count = total ?? found.length;
  const more = count > lines.length ? [`  and ${count - lines.length} more`] : [];
  const what = `${count} ${count === 1 ? "package" : "packages"}`;
  printMessage(
    [`moorage: sources name different versions of ${what}; all of them count:`, ...lines, ...more].join("\n"),
  );
}

/** Digests are long, and by their beginnings documents differ. */
function sourceText(source: string): string {
  return source.replace(/^(sha\d+:[a-f0-9]{12})[a-f0-9]*\//, "$1…/");
}

// `moorage libraries findings`: which versions of libraries a vulnerability hits, and which vulnerabilities one has.
import { textIn, textsIn } from "../api/json-fields.ts";
import type { JsonObject, Query } from "../api/rest.ts";
import { printMessage } from "../output/output.ts";
import { knowledgeIn, libraryKnowledge, unknownTexts } from "../resources/knowledge.ts";
import type { Listing } from "../output/listing.ts";
import { severityOf } from "./finding-lists.ts";
import { ecosystemsOf, librariesNamed, libraryIn } from "./library-names.ts";
import { type ListFlags, printOrWatch, sizesOf } from "./lists.ts";
import { openSession } from "./session.ts";
import { type Severity, SEVERITY_COLORS } from "./severities.ts";

export interface LibraryFindingsFlags extends ListFlags {
  vulnerability?: string[];
  minSeverity?: Severity;
  fixable?: boolean;
  kev?: boolean;
  malware?: boolean;
  in?: string;
  ecosystem?: string;
}

/** Findings as a table. */
const FINDINGS: Listing = {
  field: "libraryFindings",
  columns: [
    {
      header: "SEVERITY",
      value: (each) => (each["malware"] === true ? "malware" : severityOf(each)),
      color: (each) => (each["malware"] === true ? "red" : SEVERITY_COLORS[severityOf(each)]),
    },
    { header: "ID", value: (each) => textIn(each, "vulnerability") },
    { header: "LIBRARY", value: (each) => textIn(each, "name") },
    { header: "VERSION", value: (each) => textIn(each, "version") },
    { header: "FIXED IN", value: (each) => textsIn(each, "fixVersions").join(", ") },
    { header: "EXPLOITED", value: (each) => (each["kev"] === true ? "yes" : ""), color: () => "red" },
    { header: "SUMMARY", flexible: true, value: (each) => textIn(each, "summary") },
    { header: "SCORE", wide: true, right: true, value: (each) => textIn(each, "score") },
    { header: "EPSS", wide: true, right: true, value: (each) => textIn(each, "epss") },
    { header: "PURL", wide: true, value: (each) => textIn(each, "purl") },
    { header: "UID", wide: true, value: (each) => textIn(each, "artifactVersion") },
  ],
  nameOf: (each) => `${textIn(each, "name")}@${textIn(each, "version")}`,
  idOf: (each) => textIn(each, "artifactVersion"),
};

/** Prints the findings of a library or of one version of it; of all libraries that the caller may list without one. */
export async function printLibraryFindings(
  library: string | undefined,
  { in: place, ecosystem, vulnerability = [], minSeverity, fixable, kev, malware, ...flags }: LibraryFindingsFlags,
): Promise<void> {
  const session = await openSession(flags);
  const filter: Query = {
    ...(vulnerability.length > 0 && { vulnerabilities: vulnerability }),
    ...(ecosystem !== undefined && { ecosystems: ecosystemsOf(ecosystem) }),
    ...(minSeverity !== undefined && { min_severity: minSeverity.toUpperCase() }),
    ...(fixable === true && { fixable: true }),
    ...(kev === true && { kev: true }),
    ...(malware === true && { malware: true }),
    ...(place !== undefined && { "uidp.descendants_of": await session.names.uidOf("group", place) }),
  };
  let queries = [filter];
  if (library !== undefined) {
    const named = libraryIn(library);
    const version = named.version === "" ? {} : { version: named.version };
    const found = await librariesNamed(session, named, ecosystem);
    queries = found.map((each) => ({ ...filter, artifact: textIn(each, "uid"), ...version }));
  }
  const { limit, pageSize } = sizesOf(flags);
  const pages: JsonObject[] = [];
  const load = async function* (): AsyncGenerator<JsonObject> {
    pages.length = 0;
    let printed = 0;
    for (const query of queries)
      for await (const each of session.rest.list("/libraries/v2/findings", "libraryFindings", {
        query,
        ...(pageSize !== undefined && { pageSize }),
        onPage: (page) => pages.push(knowledgeIn(page)),
      })) {
        if (printed === limit) return;
        printed += 1;
        yield each;
      }
  };
  const known = (): JsonObject => libraryKnowledge(pages);
  await printOrWatch(load, FINDINGS, flags, { pathOf: session.names.pathOf, behind: known });
  for (const text of unknownTexts(known())) printMessage(`moorage: ${text}`);
}

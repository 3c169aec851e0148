// What a list of findings says of what is not known.
import { isObject, numberIn, objectIn, objectsIn, textIn, textsIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";

const FIELDS = [
  "state",
  "unknownImages",
  "unknownSummary",
  "coverage",
  "notCompared",
  "notComparedTotal",
  "staleFeeds",
  "unknownCount",
  "leftOutUids",
  "leftOutRepoUids",
  "uncountedUids",
];

/** What the pages of lists say of what is not known, by the lists' fields. */
export const KNOWLEDGE: Readonly<Record<string, (pages: readonly JsonObject[]) => JsonObject>> = {
  findings: ([first = {}]) => first,
  libraryFindings: libraryKnowledge,
  documents: ([first = {}]) => first,
  exposures: ([first = {}]) => first,
  pulls: ([first = {}]) => first,
  downloads: ([first = {}]) => first,
  usage: ([first = {}]) => first,
  tags: (pages): JsonObject => {
    const unknownCount = pages.reduce((sum, page) => sum + numberIn(page, "unknownCount"), 0);
    return unknownCount === 0 ? {} : { unknownCount };
  },
  vulnerabilityMetadata: ([first = {}]) => first,
  resolvedVulnsReports: (pages) => ({ staleFeeds: staleIn(pages) }),
};

/** Those fields of an answer that say what is known. `items`: the field of a list whose items say it, too. */
export function knowledgeIn(page: JsonObject, items = ""): JsonObject {
  const stale = staleIn([page, ...objectsIn(page, items)]);
  return {
    ...Object.fromEntries(FIELDS.flatMap((name) => (page[name] === undefined ? [] : [[name, page[name]]]))),
    ...(stale.length > 0 && { staleFeeds: stale }),
  };
}

/** The feeds that some of the objects name as older than their own interval, each once. */
function staleIn(objects: readonly JsonObject[]): JsonObject[] {
  const all = objects.flatMap((each) => objectsIn(each, "staleFeeds"));
  return [...new Map(all.map((each) => [textIn(each, "feed"), each])).values()];
}

/** What the pages of lists of findings of libraries say together. */
export function libraryKnowledge(pages: readonly JsonObject[]): JsonObject {
  const coverage = new Map(
    pages.flatMap((page) => objectsIn(page, "coverage")).map((each) => [textIn(each, "ecosystem"), each]),
  );
  return {
    coverage: [...coverage.values()],
    notCompared: pages.flatMap((page) => objectsIn(page, "notCompared")),
    notComparedTotal: pages.reduce((total, page) => total + numberIn(page, "notComparedTotal"), 0),
    staleFeeds: staleIn(pages),
  };
}

/**
 * The same for people, a text for each thing that is not known; none when all is. `field`: that of the list's items, as
 * far as texts name them.
 */
export function unknownTexts(page: JsonObject, field = ""): string[] {
  const unknown = objectsIn(page, "unknownImages").map(
    (image) => `not known: ${textIn(image, "digest")}: ${stateIn(image)}: ${textIn(image, "reason")}`,
  );
  const stale = staleText(objectsIn(page, "staleFeeds"));
  return [
    ...unknown,
    ...summaryTexts(page),
    ...countedTexts(page, field === "downloads" ? field : "pulls"),
    ...libraryTexts(page),
    ...tagTexts(page),
    ...(stale === "" ? [] : [stale]),
  ];
}

/** Since when pulls or downloads are counted, without which a list with none says nothing, and of what they are not. */
function countedTexts(page: JsonObject, what: string): string[] {
  const coverage = page["coverage"];
  if (!isObject(coverage)) return [];
  const [since, days] = [textIn(coverage, "since"), numberIn(coverage, "lossyDayCount")];
  const leftOut = [...textsIn(page, "leftOutUids"), ...textsIn(page, "leftOutRepoUids")].length;
  const uncounted = textsIn(page, "uncountedUids").length;
  const missing = days === 0 ? "" : `; of ${countOf(days, "day")} since then some are missing`;
  return [
    since === "" ? `${what} are not counted: nothing is known` : `${what} are counted since ${since}${missing}`,
    ...(leftOut === 0 ? [] : [`${leftOut} of those asked for left out: gone, or you may not list their ${what}`]),
    ...(uncounted === 0 ? [] : [`${uncounted} of those asked for: it is not known whether their files count`]),
  ];
}

function summaryTexts(page: JsonObject): string[] {
  const summary = objectIn(page, "unknownSummary");
  const [notRead, noData] = [numberIn(summary, "notRead"), numberIn(summary, "noData")];
  const least = summary["atLeast"] === true ? "at least " : "";
  const texts: string[] = [];
  if (stateIn(page) === "NO_DATA") texts.push("no feed is there that images are compared with: nothing is known");
  if (notRead + noData > 0 || least !== "") {
    const parts = [`${countOf(notRead, "image")} NOT_READ`, `${countOf(noData, "image")} NO_DATA`];
    texts.push(`not known: ${least}${parts.join(", ")}; moorage findings list-unknown-images lists them`);
  }
  for (const each of objectsIn(summary, "uncovered")) {
    const preset = textIn(each, "preset");
    const help = preset === "" ? "no preset of feeds would" : `moorage feeds add ${preset} would`;
    texts.push(
      `no feed covers ${textIn(each, "ecosystem")}, in ${countOf(numberIn(each, "images"), "image")}: ${help}`,
    );
  }
  return texts;
}

/** Of how many tags it is not known whether they are what a filter asks for. */
function tagTexts(page: JsonObject): string[] {
  const count = numberIn(page, "unknownCount");
  if (count === 0) return [];
  return [`${countOf(count, "tag")} left out: it is not known whether ${count === 1 ? "it fits" : "they fit"}`];
}

/** What a list of findings does not know of libraries, or of the packages of an image. */
function libraryTexts(page: JsonObject): string[] {
  const texts = objectsIn(page, "coverage")
    .filter((each) => stateIn(each) === "NO_DATA")
    .map((each) => {
      const name = textIn(each, "ecosystem")
        .replace(/^ECOSYSTEM_/, "")
        .toLowerCase();
      return `NO_DATA: no feed covers libraries of ${name}: moorage feeds add ${textIn(each, "preset")} would`;
    });
  const versions = objectsIn(page, "notCompared").map((each) => `${textIn(each, "name")}@${textIn(each, "version")}`);
  // Of an image they are counted alone; its coverage lists them.
  const ofImage = numberIn(page, "notCompared");
  if (ofImage > 0) texts.push(`${countOf(ofImage, "package")} cannot be compared: see moorage images coverage`);
  const total = numberIn(page, "notComparedTotal");
  if (total > 0) {
    const more = total > MAX_NAMED ? ` and ${total - MAX_NAMED} more` : "";
    texts.push(
      `${countOf(total, "version")} cannot be compared with those of records: ${versions.slice(0, MAX_NAMED).join(", ")}${more}`,
    );
  }
  return texts;
}

const MAX_NAMED = 10;

function countOf(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}

/** `READ`, `NO_DATA` or `NOT_READ`; `UNSPECIFIED` where there is none, and empty where the server does not say. */
export function stateIn(item: JsonObject): string {
  return textIn(item, "state").replace(/^KNOWLEDGE_STATE_/, "");
}

/** Says which feeds are older than their own interval; empty when none is. */
export function staleText(feeds: readonly JsonObject[]): string {
  const parts = feeds.map((feed) => {
    const time = textIn(feed, "successTime");
    return `${textIn(feed, "feed")} (${time === "" ? "never read" : `last read ${time}`})`;
  });
  return parts.length === 0 ? "" : `feeds older than their own interval: ${parts.join(", ")}`;
}

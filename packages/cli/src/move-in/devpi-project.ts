// A project of devpi's, read like what a stranger wrote. Source: devpi-server 6, views.py and model.py ("+links").
import { isList, isObject } from "@moorage/kernel/lib/json";
import { isVersion } from "@moorage/kernel/lib/versions";
import { faultOfHost } from "./address.ts";
import { objectsIn } from "./numbered-pages.ts";
import { listedOnce, type SourceFile, type SourceProject } from "./project-source.ts";
import { faultOfFile } from "./python-names.ts";
import { SourceError } from "./source-error.ts";
import { sumOfHex } from "./sums.ts";

/** Where a project is. */
interface Place {
  index: string;
  project: string;
  origin: string;
  nowMs: number;
}

const MAX_VERSIONS = 20_000;
const MAX_FILES = 100_000;
const MAX_SUMMARY_CHARS = 512;

/** Reads the versions of a project. Throws a SourceError for what are none. */
export function readDevpiProject(versions: Record<string, unknown>, place: Place): SourceProject {
  const entries = Object.entries(versions);
  if (entries.length > MAX_VERSIONS) throw new SourceError(`has more than ${MAX_VERSIONS} versions`);
  const files: SourceFile[] = [];
  const others = new Map<string, number>();
  const count = (what: string): unknown => others.set(what, (others.get(what) ?? 0) + 1);
  let name = place.project;
  for (const [version, data] of entries) {
    if (!isObject(data)) throw new SourceError("has a version that is no object");
    if (typeof data["name"] === "string") ({ name } = data as { name: string });
    const links = data["+links"] ?? [];
    if (!isList(links)) throw new SourceError("has a version whose files are no list");
    if (links.length === 0) count("versions without files");
    for (const link of objectsIn(links, "+links")) {
      if (link["rel"] === "releasefile") files.push(fileOf(link, { ...place, version, data }));
      else count(NOT_READ[String(link["rel"])] ?? "links of other kinds");
    }
    if (files.length > MAX_FILES) throw new SourceError(`has more than ${MAX_FILES} files`);
  }
  return { name, files: listedOnce(files), left: [...others].map(([what, number]) => `${number} ${what}`) };
}

const NOT_READ: Readonly<Record<string, string>> = { toxresult: "results of tests", doczip: "documentation archives" };

function fileOf(
  link: Record<string, unknown>,
  { index, origin, nowMs, version, data }: Place & { version: string; data: Record<string, unknown> },
): SourceFile {
  const { href, log } = link;
  const yanked = link["yanked"] ?? data["yanked"];
  const url = typeof href === "string" ? URL.parse(href, origin) : null;
  const name = url === null ? "" : nameIn(url);
  const file = {
    name,
    version,
    summary: textIn(data, "summary").slice(0, MAX_SUMMARY_CHARS),
    requiresPython: textIn(data, "requires_python").slice(0, MAX_SUMMARY_CHARS),
    sums: sumsIn(link),
    time: timeIn(log, nowMs),
    yanked: typeof yanked === "string" ? yanked.slice(0, MAX_SUMMARY_CHARS) : yanked === true ? "" : undefined,
    path: url === null ? "" : url.pathname,
  };
  const fault = url === null ? "the source says no URL of it" : faultOf(url, { index, origin, name, version });
  if (fault !== undefined) return { ...file, fault };
  if (!file.sums[0]?.startsWith("sha256-")) return { ...file, fault: "the source says no SHA-256 of it" };
  return file;
}

function faultOf(
  url: URL,
  { index, origin, name, version }: { index: string; origin: string; name: string; version: string },
): string | undefined {
  const fault = faultOfHost(url, origin);
  if (fault !== undefined) return fault;
  if (!url.pathname.startsWith(`/${index}/+f/`)) return "is a file of another index";
  if (!isVersion("pypi", version)) return "its version is not one as PEP 440 has them";
  return faultOfFile(name);
}

function nameIn({ pathname }: URL): string {
  const last = pathname.slice(pathname.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** The sums in `hashes`, and in `hash_spec`, which older ones have alone; all must hold. */
function sumsIn({ hash_spec: spec, hashes }: Record<string, unknown>): string[] {
  const [algorithm = "", hex = ""] = typeof spec === "string" ? spec.split("=", 2) : [];
  const said = [...Object.entries(isObject(hashes) ? hashes : {}), [algorithm, hex] as const];
  const found = said.flatMap(([name, value]) => sumOfHex(name, value) ?? []);
  const isSha256 = (sum: string): boolean => sum.startsWith("sha256-");
  return [...new Set([...found.filter(isSha256), ...found.filter((sum) => !isSha256(sum))])];
}

/** When its bytes were uploaded: the last upload in its log. What was pushed to this index was uploaded before. */
function timeIn(log: unknown, nowMs: number): string | undefined {
  const entries = isList(log) ? log.filter(isObject) : [];
  const upload = entries.findLast(({ what }) => what === "upload") ?? entries[0];
  const when = upload?.["when"];
  if (!isList(when) || when.length < 6 || !when.every((part) => Number.isSafeInteger(part))) return undefined;
  const [year = 0, month = 0, day, hours, minutes, seconds] = when as number[];
  const ms = Date.UTC(year, month - 1, day, hours, minutes, seconds);
  return Number.isNaN(ms) || ms < 0 || ms > nowMs ? undefined : new Date(ms).toISOString();
}

function textIn(data: Record<string, unknown>, field: string): string {
  const value = data[field];
  return typeof value === "string" ? value : "";
}

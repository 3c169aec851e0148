// Repositories and files of an Artifactory, read like what a stranger wrote. Source: JFrog, "Artifactory REST API" (Get
// Repositories, Get Repository Configuration) and "Artifactory Query Language".
import { isList, isObject } from "@moorage/kernel/lib/json";
import { isVersion } from "@moorage/kernel/lib/versions";
import type { EcosystemHere } from "./artifacts-here.ts";
import { upstreamUrlIn } from "./nexus-repositories.ts";
import type { Holding, SourceFile, SourceIndex, SourceUpstream } from "./project-source.ts";
import { faultOfFile } from "./python-names.ts";
import { earliest, type StoredFile } from "./stored-files.ts";
import { sumOfHex } from "./sums.ts";

/** Where an Artifactory is on its host. */
export const BASE = "/artifactory";

const TYPES: Readonly<Record<string, { ecosystem: EcosystemHere; holds: Holding }>> = {
  npm: { ecosystem: "ECOSYSTEM_JAVASCRIPT", holds: "packages" },
  pypi: { ecosystem: "ECOSYSTEM_PYTHON", holds: "projects" },
  maven: { ecosystem: "ECOSYSTEM_JAVA", holds: "artifacts" },
};
const CACHE =
  "is a cache of another registry, whose images do not come: a registry upstream of a group does the same here (moorage registry-upstreams create)";
const ALL_PATHS = "**/*";
const MAX_MEMBERS = 20;
const MAX_PATH_CHARS = 1_000;

/** A repository as the list has it. */
export interface ListedRepository {
  key: string;
  /** In lower case: local, remote, virtual, federated or another. */
  type: string;
  /** In lower case: npm, pypi, maven, docker or another. */
  format: string;
  url: unknown;
}

/** Reads an entry of the list of repositories. */
export function listedRepository(said: Record<string, unknown>): ListedRepository {
  const { key, type, packageType, url } = said;
  return { key: textOf(key), type: textOf(type).toLowerCase(), format: textOf(packageType).toLowerCase(), url };
}

/** Whether its configuration says what the list does not. */
export function needsConfiguration({ type, format }: ListedRepository): boolean {
  return type === "virtual" || (type === "remote" && Object.hasOwn(TYPES, format));
}

/** What a repository becomes. `config`: undefined where it may not be read. `origin`: of the source. */
export function indexOfListed(
  { key, type, format, url }: ListedRepository,
  config: Record<string, unknown> | undefined,
  origin: string,
): SourceIndex {
  const index = { name: key, holds: "nothing" as const, note: "" };
  const here = Object.hasOwn(TYPES, format) ? TYPES[format] : undefined;
  if (type === "virtual") return { ...index, fault: `is a virtual repository: ${membersIn(config)}` };
  if (format === "docker" && (type === "local" || type === "federated")) return { ...index, holds: "images" };
  if (format === "docker" && type === "remote") return { ...index, fault: CACHE };
  if (here === undefined)
    return { ...index, fault: `has the type ${format || "that it does not say"}, which is not served here` };
  if (type === "remote") return { ...index, upstream: upstreamOf(config, url, { ecosystem: here.ecosystem, origin }) };
  if (type !== "local" && type !== "federated") return { ...index, fault: `has the class ${type}, which is not read` };
  return { ...index, holds: here.holds };
}

/** What a remote repository asks. Its password stays there. */
function upstreamOf(
  config: Record<string, unknown> | undefined,
  listed: unknown,
  { ecosystem, origin }: { ecosystem: EcosystemHere; origin: string },
): SourceUpstream {
  const url = upstreamUrlIn(addressIn(config ?? {}, ecosystem) ?? config?.["url"] ?? listed, ecosystem);
  if (url === undefined) return { fault: "the source says no URL that an upstream can have" };
  // The list may name a remote repository by where it is there: what is to go away would be asked for.
  if (new URL(url).hostname === new URL(origin).hostname)
    return { fault: "the source says only its own address, and not what it asks: make the upstream by hand" };
  if (config === undefined)
    return {
      ecosystem,
      url,
      isDisabled: true,
      note: "its configuration may not be read by these credentials, so whether it has a password or leaves paths out is not known: the upstream is disabled until somebody has looked at it",
    };
  const { username, includesPattern, excludesPattern } = config;
  const hasPassword = textOf(username) !== "";
  const patterns = [textOf(includesPattern), textOf(excludesPattern)];
  const hasPatterns = (patterns[0] !== "" && patterns[0] !== ALL_PATHS) || patterns[1] !== "";
  const note = [
    ...(hasPassword ? ["its password stays there: the upstream is disabled until it gets one"] : []),
    ...(hasPatterns
      ? [
          `which paths it asks for does not come (${patterns.join(", not ")}): the upstream is disabled until somebody has looked at it`,
        ]
      : []),
  ].join("; ");
  return { ecosystem, url, isDisabled: hasPassword || hasPatterns, note };
}

/** The index that a remote repository of Python asks, which may be at another URL than its files. */
function addressIn(
  { pyPIRegistryUrl: registry, pyPIRepositorySuffix: suffix }: Record<string, unknown>,
  ecosystem: EcosystemHere,
): string | undefined {
  if (ecosystem !== "ECOSYSTEM_PYTHON" || textOf(registry) === "") return undefined;
  return `${textOf(registry)}/${textOf(suffix) || "simple"}`;
}

function membersIn(config: Record<string, unknown> | undefined): string {
  const listed = config?.["repositories"];
  const names = isList(listed) ? listed.filter((each): each is string => typeof each === "string") : [];
  if (names.length === 0) return "the source does not say which are in it";
  const shown = names.slice(0, MAX_MEMBERS).map((name) => name.slice(0, 60));
  return [...shown, ...(names.length > MAX_MEMBERS ? [`and ${names.length - MAX_MEMBERS} more`] : [])].join(", ");
}

/** A file of a repository, as a query finds it. */
export function storedItem(item: Record<string, unknown>, repository: string, nowMs: number): StoredFile {
  const { path, name, created, modified, sha256, actual_sha1: sha1 } = item;
  const [folder, last] = [textOf(path, MAX_PATH_CHARS), textOf(name, MAX_PATH_CHARS)];
  const whole = folder === "." || folder === "" ? last : `${folder}/${last}`;
  const file = {
    name: "",
    version: "",
    path: whole,
    sums: [sumOfHex("sha256", sha256), sumOfHex("sha1", sha1)].flatMap((sum) => sum ?? []),
    time: earliest([created, modified], nowMs),
    url: `${BASE}/${[repository, ...whole.split("/")].map(encodeURIComponent).join("/")}`,
  };
  const isPath = whole
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== ".." && !/[\p{C}\\]/u.test(part));
  return isPath && last !== "" && !last.includes("/") ? file : { ...file, fault: "its path is not that of a file" };
}

/** The project of a file of Python, and the file: by its path, as uploads make it: `project/version/file`. */
export function pythonFileOf({ path, sums, time, url, fault }: StoredFile): { project: string; file: SourceFile } {
  const parts = path.split("/");
  const name = parts.pop() ?? "";
  const [project = "", version = ""] = parts;
  const own =
    fault ??
    (parts.length === 2 ? undefined : "its path does not say its project and version, as uploads have them") ??
    (isVersion("pypi", version) ? undefined : "its version is not one as PEP 440 has them") ??
    faultOfFile(name) ??
    (sums[0]?.startsWith("sha256-") ? undefined : "the source says no SHA-256 of it");
  const file = { name, version, summary: "", requiresPython: "", sums, time, yanked: undefined, path: url };
  return { project: project === "" ? name : project, file: own === undefined ? file : { ...file, fault: own } };
}

function textOf(value: unknown, most = 200): string {
  return typeof value === "string" ? value.slice(0, most) : "";
}

/** Whether a value is an object, as a configuration is. */
export function configurationIn(value: unknown): Record<string, unknown> | undefined {
  return isObject(value) ? value : undefined;
}

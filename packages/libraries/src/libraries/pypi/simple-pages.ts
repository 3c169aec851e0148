import type { Sums } from "./upstream-page.ts";

// The pages of the simple repository API, in HTML and in JSON. Sources: PEP 503, 592, 658, 691, 700, 714, 740.

/** A file as the page of its project lists it. */
export interface SimpleFile {
  filename: string;
  /** None of a file of an upstream that says none, until the file is here. */
  sums: Sums;
  /** Undefined of a file of an upstream that does not say it. */
  sizeBytes: number | undefined;
  uploadTimeMs: number | undefined;
  /** The versions of Python that it is for, as a version specifier; empty when it does not say. */
  requiresPython: string;
  /** The SHA-256 of its core metadata, which are beside it; true when it is not known, undefined without any. */
  metadata: string | true | undefined;
  /** Why the file should not be chosen, which may be empty; undefined when it may be. Source: PEP 592. */
  yanked: string | undefined;
  /** Where its provenance is served, relative to the page; undefined when there is none. Source: PEP 740. */
  provenance?: string | undefined;
}

/** What the page of a project says. */
interface SimpleProject {
  /** Normalized. */
  name: string;
  versions: readonly string[];
  files: readonly SimpleFile[];
}

/** The forms in which pages are served. */
export type SimpleForm = "json" | "html";

const API_VERSION = "1.3";
/** That of pages with files whose size is not known, which all later versions ask for. Source: PEP 700. */
const API_VERSION_WITHOUT_SIZES = "1.0";
const MEDIA_TYPES: readonly [string, SimpleForm, string][] = [
  ["application/vnd.pypi.simple.v1+json", "json", "application/vnd.pypi.simple.v1+json"],
  ["application/vnd.pypi.simple.latest+json", "json", "application/vnd.pypi.simple.v1+json"],
  ["application/vnd.pypi.simple.v1+html", "html", "application/vnd.pypi.simple.v1+html"],
  ["application/vnd.pypi.simple.latest+html", "html", "application/vnd.pypi.simple.v1+html"],
  ["text/html", "html", "text/html; charset=utf-8"],
  ["text/*", "html", "text/html; charset=utf-8"],
  ["application/*", "json", "application/vnd.pypi.simple.v1+json"],
  ["*/*", "html", "text/html; charset=utf-8"],
];

/**
 * The form that the client wants most, with its media type: of those with the same weight the first in our order. HTML
 * without an Accept header; undefined when it accepts none. Sources: PEP 691, RFC 9110 §12.5.1.
 */
export function simpleFormOf(accept: string | undefined): { form: SimpleForm; mediaType: string } | undefined {
  if (accept === undefined || accept.trim() === "") return { form: "html", mediaType: "text/html; charset=utf-8" };
  const weights = new Map<string, number>();
  for (const range of accept.toLowerCase().split(",").slice(0, MAX_RANGES)) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    weights.set(type, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  let best: { form: SimpleForm; mediaType: string } | undefined;
  let most = 0;
  for (const [type, form, mediaType] of MEDIA_TYPES) {
    const weight = weights.get(type) ?? 0;
    if (weight > most) [best, most] = [{ form, mediaType }, weight];
  }
  return best;
}

const MAX_RANGES = 32;

/** The parts of which the list of all projects is written, name by name. */
interface SimpleIndexParts {
  head: string;
  item(name: string): string;
  between: string;
  tail: string;
}

/** How the list of all projects is written. The names are normalized. */
export function simpleIndexParts(form: SimpleForm): SimpleIndexParts {
  if (form === "json")
    return {
      head: `{"meta":{"api-version":"${API_VERSION}"},"projects":[`,
      item: (name) => JSON.stringify({ name }),
      between: ",",
      tail: "]}",
    };
  const [head = "", tail = ""] = htmlPage("Simple index", ["\0"]).split("\0");
  return {
    head,
    item: (name) => `<a href="${escaped(encodeURIComponent(name))}/">${escaped(name)}</a>`,
    between: "<br>\n    ",
    tail,
  };
}

/** The page of a project: its versions and files. */
export function simpleProject(form: SimpleForm, { name, versions, files }: SimpleProject): string {
  if (form === "json") {
    const hasSizes = files.every(({ sizeBytes }) => sizeBytes !== undefined);
    const meta = { "api-version": hasSizes ? API_VERSION : API_VERSION_WITHOUT_SIZES };
    return JSON.stringify({ meta, name, versions, files: files.map(jsonFile) });
  }
  return htmlPage(`Links for ${name}`, files.map(htmlFile));
}

function jsonFile(file: SimpleFile): Record<string, unknown> {
  const metadata = file.metadata === undefined ? false : file.metadata === true ? true : { sha256: file.metadata };
  return {
    filename: file.filename,
    url: encodeURIComponent(file.filename),
    hashes: file.sums,
    ...(file.requiresPython !== "" && { "requires-python": file.requiresPython }),
    ...(file.sizeBytes !== undefined && { size: file.sizeBytes }),
    ...(file.uploadTimeMs !== undefined && { "upload-time": new Date(file.uploadTimeMs).toISOString() }),
    yanked: file.yanked === undefined ? false : file.yanked === "" ? true : file.yanked,
    // Not by its older name as well: pip before 23.1 asks for JSON and ends with an error where that is not a text.
    // Such clients read the metadata in the wheel. Source: PEP 714.
    "core-metadata": metadata,
    provenance: file.provenance ?? null,
  };
}

/** A link has one sum: that which all clients know before others. */
const LINKED_SUMS = ["sha256", "sha512", "sha1", "md5"] as const;

function htmlFile(file: SimpleFile): string {
  const sum = LINKED_SUMS.find((name) => file.sums[name] !== undefined);
  const fragment = sum === undefined ? "" : `#${sum}=${file.sums[sum] ?? ""}`;
  const attributes = [`href="${escaped(encodeURIComponent(file.filename))}${fragment}"`];
  if (file.requiresPython !== "") attributes.push(`data-requires-python="${escaped(file.requiresPython)}"`);
  if (file.metadata !== undefined) {
    const value = file.metadata === true ? "true" : `sha256=${file.metadata}`;
    attributes.push(`data-core-metadata="${value}"`, `data-dist-info-metadata="${value}"`);
  }
  if (file.yanked !== undefined) attributes.push(`data-yanked="${escaped(file.yanked)}"`);
  if (file.provenance !== undefined) attributes.push(`data-provenance="${escaped(file.provenance)}"`);
  return `<a ${attributes.join(" ")}>${escaped(file.filename)}</a>`;
}

function htmlPage(title: string, links: readonly string[]): string {
  return [
    "<!DOCTYPE html>",
    "<html>",
    "  <head>",
    `    <meta name="pypi:repository-version" content="${API_VERSION}">`,
    `    <title>${escaped(title)}</title>`,
    "  </head>",
    "  <body>",
    `    <h1>${escaped(title)}</h1>`,
    ...links.map((link) => `    ${link}<br>`),
    "  </body>",
    "</html>",
    "",
  ].join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

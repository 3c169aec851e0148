import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { tarOf } from "./catalog/archives.ts";
import type { Answer, Platform } from "./platform.ts";
import { zipOf } from "./zip.ts";

/** What of a distribution a test says. */
export interface Wheel {
  name: string;
  version: string;
  summary?: string;
  requiresPython?: string;
  /** Lines of the metadata beside these. */
  lines?: readonly string[];
  /** What stands behind the header of the metadata. */
  readme?: string;
  /** The source of its only module. */
  code?: string;
}

function metadataOf({
  name,
  version,
  summary = `${name} says hello`,
  requiresPython,
  lines = [],
  readme = "",
}: Wheel): string {
  return [
    "Metadata-Version: 2.1",
    `Name: ${name}`,
    `Version: ${version}`,
    `Summary: ${summary}`,
    ...(requiresPython === undefined ? [] : [`Requires-Python: ${requiresPython}`]),
    ...lines,
    "",
    readme,
  ].join("\n");
}

/** A wheel that pip installs, and its name. Source: PyPA, "binary distribution format". */
export function wheelOf(wheel: Wheel): { filename: string; bytes: Buffer; metadata: string } {
  const stem = wheel.name.replaceAll(/[-_.]+/g, "_").toLowerCase();
  const info = `${stem}-${wheel.version}.dist-info`;
  const metadata = metadataOf(wheel);
  const files: [string, string][] = [
    [`${stem}.py`, wheel.code ?? `version = "${wheel.version}"\n`],
    [`${info}/METADATA`, metadata],
    [`${info}/WHEEL`, "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"],
  ];
  const record = files.map(([path, content]) => {
    const sum = createHash("sha256").update(content).digest("base64url");
    return `${path},sha256=${sum},${Buffer.byteLength(content)}`;
  });
  const all: [string, string][] = [...files, [`${info}/RECORD`, [...record, `${info}/RECORD,,`, ""].join("\n")]];
  return {
    filename: `${stem}-${wheel.version}-py3-none-any.whl`,
    bytes: zipOf(all.map(([name, content]) => ({ name, content }))),
    metadata,
  };
}

/** A source distribution, and its name. */
export function sdistOf(wheel: Wheel): { filename: string; bytes: Buffer } {
  const stem = `${wheel.name.replaceAll(/[-_.]+/g, "_").toLowerCase()}-${wheel.version}`;
  const content = metadataOf(wheel);
  return { filename: `${stem}.tar.gz`, bytes: gzipSync(tarOf([{ path: `${stem}/PKG-INFO`, content }])) };
}

/** What is uploaded, and what is different in the form from what twine sends: undefined leaves a field out. */
export interface UploadOptions {
  filename: string;
  bytes: Uint8Array;
  name: string;
  version: string;
  fields?: Record<string, string | undefined>;
  token?: string;
  headers?: Record<string, string>;
}

/** Uploads a file as twine does. */
export async function uploadPypi(
  platform: Platform,
  group: string,
  { filename, bytes, name, version, fields = {}, token, headers = {} }: UploadOptions,
): Promise<Answer> {
  const form = new FormData();
  const all: Record<string, string | undefined> = {
    ":action": "file_upload",
    protocol_version: "1",
    metadata_version: "2.1",
    name,
    version,
    filetype: filename.endsWith(".whl") ? "bdist_wheel" : "sdist",
    sha256_digest: createHash("sha256").update(bytes).digest("hex"),
    md5_digest: createHash("md5").update(bytes).digest("hex"),
    ...fields,
  };
  for (const [field, value] of Object.entries(all)) if (value !== undefined) form.append(field, value);
  form.append("content", new Blob([bytes as Uint8Array<ArrayBuffer>]), filename);
  const encoded = new Response(form);
  return await platform.call("POST", `/pypi/${group}/legacy/`, {
    token: token ?? (await platform.token()),
    raw: Buffer.from(await encoded.arrayBuffer()),
    headers: { ...headers, "content-type": encoded.headers.get("content-type") ?? "" },
  });
}

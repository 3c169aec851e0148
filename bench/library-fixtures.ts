import { createHash } from "node:crypto";
import { publishDocument, tarballOf } from "../packages/server/test/support/npm.ts";
import { type Wheel, wheelOf } from "../packages/server/test/support/pypi.ts";
import { textOf } from "./images.ts";

// Packages of npm and projects of Python, as many as an application has, each with content of its own.

/** How many packages an installation takes, and how many versions the one with many has. */
export const PACKAGES = 200;
export const VERSIONS = 50;
/** The version that is installed: the last one. */
export const LATEST = `1.${VERSIONS - 1}.0`;
const CONTENT_BYTES = 16 * 1024;
const DESCRIPTION = "A package of the benchmark, with a description as long as they are";

export function versionsOf(count = VERSIONS): string[] {
  return Array.from({ length: count }, (_, index) => `1.${VERSIONS - count + index}.0`);
}

/** The package with this number, of those that are published or, with another prefix, an upstream's. */
export function packageName(index: number, prefix = "bench"): string {
  return `${prefix}-${String(index).padStart(3, "0")}`;
}

/** What package.json says of a version: dependencies, scripts and so on, as packages have them. */
export function manifestOf(name: string, version: string): Record<string, unknown> {
  return {
    name,
    version,
    description: DESCRIPTION,
    main: "index.js",
    license: "MIT",
    author: { name: "Bench", email: "bench@example.com" },
    repository: { type: "git", url: `git+https://example.com/${name}.git` },
    keywords: ["bench", "library", "measured"],
    engines: { node: ">=18" },
    scripts: { test: "node --test", build: "tsc -p tsconfig.json", lint: "eslint ." },
    devDependencies: { typescript: "^6.0.0", eslint: "^10.0.0", prettier: "^3.0.0" },
  };
}

/** A tarball of 16 KiB and more. */
export function npmTarball(name: string, version: string): Buffer {
  return tarballOf(manifestOf(name, version), { "index.js": `// ${name}@${version}\n// ${textOf(CONTENT_BYTES)}\n` });
}

/** The document with which `npm publish` sends a version. */
export function npmDocument(name: string, version: string): object {
  const manifest = { ...manifestOf(name, version), readme: textOf(4_096) };
  const document = publishDocument(name, version, { manifest, tarball: npmTarball(name, version) });
  const { versions } = document as { versions: Record<string, { dist: { tarball: string } }> };
  for (const { dist } of Object.values(versions))
    dist.tarball = `http://registry.example/${name}/-/${name}-${version}.tgz`;
  return document;
}

/** A wheel of 16 KiB and more. */
export function wheel(name: string, version: string): ReturnType<typeof wheelOf> {
  const about: Wheel = { name, version, summary: DESCRIPTION, requiresPython: ">=3.9" };
  return wheelOf({ ...about, code: `# ${name} ${version}\n# ${textOf(CONTENT_BYTES)}\n` });
}

/** The form with which twine uploads a wheel. */
export async function wheelForm(
  name: string,
  version: string,
): Promise<{ type: string; content: Buffer<ArrayBuffer> }> {
  const { filename, bytes } = wheel(name, version);
  const form = new FormData();
  const fields = {
    ":action": "file_upload",
    protocol_version: "1",
    metadata_version: "2.1",
    name,
    version,
    filetype: "bdist_wheel",
    pyversion: "py3",
    requires_python: ">=3.9",
    sha256_digest: createHash("sha256").update(bytes).digest("hex"),
  };
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append("content", new Blob([Uint8Array.from(bytes)]), filename);
  const encoded = new Response(form);
  const content = Buffer.from(await encoded.arrayBuffer());
  return { type: encoded.headers.get("content-type") ?? "", content };
}

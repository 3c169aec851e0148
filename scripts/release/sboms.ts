// What each part of a release holds, as CycloneDX.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandVersion, oneFileOf } from "../bundle/one-file.ts";
import { ROOT } from "../bundle/programs.ts";
import { sbomOf } from "../bundle/sbom.ts";
import { SERVER_PACKAGES } from "../server-packages.ts";
import { ARCHITECTURES, PINS } from "./inputs.ts";

interface Document {
  components: object[];
}

/** Writes a document for each part; `packageFolder` is the package `moorage` as it is packed. */
export async function writeSboms(packageFolder: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const version = commandVersion();
  copyFileSync(join(packageFolder, "sbom.cdx.json"), join(folder, "npm-moorage.cdx.json"));
  for (const name of ["api", ...SERVER_PACKAGES.map((each) => each.name)])
    write(folder, `npm-moorage-${name}`, ofWorkspace(`@moorage/${name}`));
  const { modules } = await oneFileOf("moorage");
  const command = JSON.parse(sbomOf(modules, { name: "moorage", version })) as Document;
  write(folder, "command", command);
  write(folder, "executables", { ...command, components: [...command.components, nodeComponent()] });
  const server = JSON.parse(sbomOf([], { name: "moorage", version })) as Document;
  const bundled = JSON.parse(readFileSync(join(packageFolder, "sbom.cdx.json"), "utf8")) as Document;
  for (const { oci } of ARCHITECTURES)
    write(folder, `image-${oci}`, {
      ...server,
      components: [...bundled.components, nodeComponent(), ...debianComponents(oci)],
    });
  // The chart holds no software: it names the image.
  const image = { type: "container", "bom-ref": `image:moorage:${version}`, name: "moorage", version };
  write(folder, "chart", {
    ...(JSON.parse(sbomOf([], { name: "moorage-chart", version })) as Document),
    components: [image],
  });
}

function write(folder: string, name: string, document: Document): void {
  writeFileSync(join(folder, `${name}.cdx.json`), `${JSON.stringify(document, null, 2)}\n`);
}

interface Locked {
  version?: string;
  license?: string;
  link?: boolean;
  resolved?: string;
  dependencies?: Record<string, string>;
}

/**
 * What a package of this repository installs, by package-lock.json: `npm sbom` does not take a root without version.
 */
function ofWorkspace(name: string): Document {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  const found = new Map<string, object>();
  const visit = (path: string): void => {
    for (const dependency of Object.keys(packages[path]?.dependencies ?? {})) {
      const at = placeOf(packages, path, dependency);
      const target = packages[at]?.link === true ? (packages[at].resolved ?? at) : at;
      if (found.has(target)) continue;
      const { version = "", license } = packages[target] ?? {};
      const purl = `pkg:npm/${dependency.replace(/^@/, "%40")}@${version}`;
      const licenses = license === undefined ? {} : { licenses: [{ expression: license }] };
      found.set(target, {
        type: "library",
        "bom-ref": `${purl}#${target}`,
        name: dependency,
        version,
        ...licenses,
        purl,
      });
      visit(target);
    }
  };
  visit(`packages/${name.slice("@moorage/".length)}`);
  const components = [...found].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, component]) => component);
  return { ...(JSON.parse(sbomOf([], { name, version: commandVersion() })) as Document), components };
}

/** Where Node finds a dependency of the package at that path: below it, or below one of those above. */
function placeOf(packages: Record<string, Locked>, path: string, name: string): string {
  for (let above = path; ; above = above.slice(0, Math.max(0, above.lastIndexOf("/")))) {
    const at = above === "" ? `node_modules/${name}` : `${above}/node_modules/${name}`;
    if (packages[at] !== undefined) return at;
    if (above === "") throw new Error(`package-lock.json has no ${name} for ${path}`);
  }
}

function nodeComponent(): object {
  const { version } = PINS.node;
  const purl = `pkg:generic/node@${version}`;
  return {
    type: "application",
    "bom-ref": purl,
    name: "node",
    version,
    purl,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
  };
}

function debianComponents(architecture: string): object[] {
  return (PINS.debian.packages[architecture] ?? []).map(({ name, version, sha256 }) => {
    const purl = `pkg:deb/debian/${name.replaceAll("+", "%2B")}@${version.replaceAll("+", "%2B")}?arch=${architecture}&distro=${PINS.debian.suite}`;
    return { type: "library", "bom-ref": purl, name, version, purl, hashes: [{ alg: "SHA-256", content: sha256 }] };
  });
}

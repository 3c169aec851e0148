import { compareVersions } from "../../lib/versions/index.ts";
import type { Row } from "../../store/index.ts";
import { componentOf } from "../findings/match-packages.ts";
import { lookupsOf, versionOrder } from "../matching/package-keys.ts";
import type { Decision } from "./decisions.ts";
import type { HeldPackage, HeldPackages } from "./image-packages.ts";
import { PURL_TYPES } from "./products.ts";
import type { Said } from "./said.ts";
import { statementOf } from "./statements.ts";

/** An image as advisories name one. */
export interface NamedImage {
  /** Its path, as `acme/team/web`. */
  path: string;
  /** Empty when it is not known. */
  architecture: string;
}

/** What a decision says of an image: of all of it, or of packages in it. */
export interface Advised extends Pick<Said, "statement" | "packages"> {
  /** It has come to an end; otherwise it says less than whoever says how it is. */
  isSettled: boolean;
}

const IMAGE = "OCI_IMAGE";

/**
 * What a decision says of an image. Of packages that it calls fixed, those below the version that fixes them are
 * affected. Nothing when it is about another artifact, or about a version of the image as a whole, which a digest does
 * not have.
 */
export function advised(
  { advisory, event }: Pick<Decision, "advisory" | "event">,
  image: NamedImage,
  packages: HeldPackages,
): Advised[] {
  const { versions, remediation: _, ...statement } = statementOf({ event });
  const about = packagesOf(advisory, image, packages);
  if (about === undefined || about.length === 0) return [];
  if (statement.status !== "fixed")
    return [{ statement, packages: about, isSettled: statement.status !== "under_investigation" }];
  if (about === "all") return [];
  const fixed = about.filter((each) => isFixed(each, event.type.case, versions));
  const others = about.filter((each) => !fixed.includes(each));
  const action = `Update it to ${versions.join(" or ")}.`;
  return [
    ...(fixed.length === 0 ? [] : [{ statement, packages: fixed, isSettled: true }]),
    ...(others.length === 0
      ? []
      : [{ statement: { status: "affected", action } as const, packages: others, isSettled: false }]),
  ];
}

/** Whether the advisory is about the image with this path, or something in it. */
export function isAboutImage({ artifact_name, artifact_type }: Row<"advisories">, path: string): boolean {
  return artifact_name === path && isImageType(artifact_type);
}

const isImageType = (kind: string): boolean => kind === "" || kind.toUpperCase() === IMAGE;

/** The packages of the image that the advisory is about. Undefined when it is about another artifact. */
function packagesOf(
  advisory: Row<"advisories">,
  { path, architecture }: NamedImage,
  packages: HeldPackages,
): Advised["packages"] | undefined {
  const { artifact_name: artifact, artifact_type: kind, artifact_architecture: arch } = advisory;
  const { component_name: component, component_type: componentKind, component_location: place } = advisory;
  if (arch !== "" && nameOfArchitecture(arch) !== architecture) return undefined;
  const named = (name: string, type: string): HeldPackage[] =>
    packages.named(name).filter((each) => isOfKind(each, type) && isAt(each, place));
  if (isAboutImage(advisory, path)) return component === "" ? "all" : named(component, componentKind);
  if (kind.toUpperCase() === IMAGE) return undefined;
  // Which package owns what lies in it is not known, so one about another component says nothing here.
  if (component !== "" && component !== artifact) return undefined;
  return named(artifact, kind).filter((each) => isOfKind(each, componentKind));
}

/** Every kind without one; a kind that is not known is another. */
function isOfKind({ purl }: HeldPackage, kind: string): boolean {
  const lower = kind.toLowerCase();
  return kind === "" || purl.startsWith(`pkg:${PURL_TYPES[lower] ?? lower}/`);
}

/** A package that lies elsewhere, too, is affected there. */
function isAt({ paths }: HeldPackage, place: string): boolean {
  const wanted = place.replace(/^\//, "");
  return wanted === "" || paths.every((path) => path.replace(/^\//, "") === wanted);
}

/** The name that OCI has for an architecture. */
function nameOfArchitecture(name: string): string {
  const known: Readonly<Record<string, string>> = { x86_64: "amd64", aarch64: "arm64" };
  return known[name] ?? name;
}

/** Whether the package has a version that fixes it: of `patched` one of these, of `fixed` also a later one. */
function isFixed(held: HeldPackage, kind: string | undefined, versions: readonly string[]): boolean {
  if (versions.includes(held.version)) return true;
  const component = componentOf({
    id: "",
    ecosystem: "",
    licence: "",
    purl: held.purl,
    name: held.name,
    version: held.version,
    source_name: held.sourceName,
    source_version: held.sourceVersion,
  });
  const order = versionOrder((component === undefined ? undefined : lookupsOf(component)[0]?.key) ?? "");
  if (kind === "patched" || order === undefined) return false;
  return versions.some((version) => compareVersions(order, held.version, version) >= 0);
}

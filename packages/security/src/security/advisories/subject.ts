import { comparableArchitecture, parsedPurl, pypiName } from "@moorage/kernel/lib/purls";
import type { Row } from "@moorage/kernel/store";
import { packageKind } from "../records/package-kinds.ts";
import { isNamed } from "../packages/candidates.ts";

/** What an advisory is about. Source: docs/vulnerabilities.md, "What advisories decide". */
export type Subject = Pick<
  Row<"advisories">,
  | "artifact_name"
  | "artifact_type"
  | "artifact_architecture"
  | "component_name"
  | "component_location"
  | "component_type"
>;

/** An image as advisories name one. */
export interface NamedImage {
  /** Its path, as `acme/team/web`. */
  path: string;
  /** Empty when it is not known. */
  architecture: string;
}

const IMAGE = "OCI_IMAGE";

/** Whether the type of an artifact says that it is an image. */
export const isImageType = (type: string): boolean => type.toUpperCase() === IMAGE;

/** Whether the advisory is about the image with this path, or something in it. Without a type, the name decides. */
export const isAboutImage = ({ artifact_name: artifact, artifact_type: type }: Subject, path: string): boolean =>
  artifact === path && mayBeImage(type);

/** Whether an artifact of the type may be an image: it says so, or nothing. */
export const mayBeImage = (type: string): boolean => type === "" || isImageType(type);

/** The name of the package that an advisory is about; undefined when it is about an image as a whole. */
export function packageOf({ artifact_name: artifact, artifact_type: type, component_name: component }: Subject) {
  return component !== "" ? component : isImageType(type) ? undefined : artifact;
}

/**
 * Whether it is about packages wherever they are, for what its component says: which package owns what lies in it is
 * not known, so that one about another component of a package says nothing.
 */
export const isOwnComponent = ({ artifact_name: artifact, component_name: component }: Subject): boolean =>
  component === "" || component === artifact;

export const isForArchitecture = ({ artifact_architecture: own }: Subject, architecture: string): boolean =>
  own === "" || comparableArchitecture(own) === comparableArchitecture(architecture);

/** The type of purls of a kind of packages; undefined for any. An unknown kind is another one. */
export const purlType = (kind: string): string | undefined =>
  kind === "" ? undefined : (packageKind(kind)?.purlType ?? kind.toLowerCase());

type Named = Pick<Row<"packages">, "purl" | "name" | "source_name" | "source_version">;

/** Whether the advisory is about this package of the image. `paths`: where the package lies in it. */
export function isAboutPackage(
  subject: Subject,
  { path, architecture }: NamedImage,
  held: Named,
  paths: readonly string[],
): boolean {
  if (!isForArchitecture(subject, architecture)) return false;
  if (isAboutImage(subject, path)) return isComponent(subject, held, paths);
  if (isImageType(subject.artifact_type) || !isOwnComponent(subject)) return false;
  return isOf(held, subject.artifact_name, subject.artifact_type) && isComponent(subject, held, paths);
}

/** The names under which packages of this name may be stored. Sources: PEP 503; purl specification, type golang. */
export const storedNames = (name: string): string[] => [...new Set([name, ...Object.values(normalized(name))])];

function isComponent(subject: Subject, held: Named, paths: readonly string[]): boolean {
  const { component_name: name, component_type: type, component_location: place } = subject;
  return (
    isOf(held, name, type) &&
    // A package that lies elsewhere, too, is affected there.
    (place === "" || paths.every((path) => withoutSlash(path) === withoutSlash(place)))
  );
}

/** Whether the package has the name and is of the kind, as far as they are given. */
function isOf(held: Named, name: string, kind: string): boolean {
  const type = parsedPurl(held.purl)?.type ?? "";
  if ((purlType(kind) ?? type) !== type) return false;
  return name === "" || isNamed(held, name) || isNamed(held, normalized(name)[type] ?? name);
}

const normalized = (name: string): Readonly<Record<string, string>> => ({
  pypi: pypiName(name),
  golang: name.toLowerCase(),
});

const withoutSlash = (path: string): string => path.replace(/^\/+/, "");

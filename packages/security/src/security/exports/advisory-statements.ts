import {
  isAboutImage,
  isAboutPackage,
  isForArchitecture,
  type NamedImage,
  packageOf,
  storedNames,
  type Subject,
} from "../advisories/subject.ts";
import { isAtLeast, isSameVersion } from "../matching/versions.ts";
import type { Decision } from "./decisions.ts";
import type { HeldPackage, HeldPackages } from "./image-packages.ts";
import type { Said } from "./statement.ts";
import { statementOf } from "./statements.ts";

/** What a decision says of an image: of all of it, or of packages in it. */
export interface Advised extends Pick<Said, "statement" | "packages"> {
  /** It has come to an end; otherwise it says less than whoever says how it is. */
  isSettled: boolean;
}

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
  if (about.length === 0) return [];
  if (statement.status !== "fixed")
    return [{ statement, packages: about, isSettled: statement.status !== "under_investigation" }];
  if (about === "all") return [];
  const name = packageOf(advisory) ?? "";
  const isHeld = event.type.case === "patched" ? isSameVersion : isAtLeast;
  const fixed = about.filter((each) => versions.some((version) => isHeld(each, name, version)));
  const others = about.filter((each) => !fixed.includes(each));
  const action = `Update it to ${versions.join(" or ")}.`;
  return [
    ...(fixed.length === 0 ? [] : [{ statement, packages: fixed, isSettled: true }]),
    ...(others.length === 0
      ? []
      : [{ statement: { status: "affected", action } as const, packages: others, isSettled: false }]),
  ];
}

/**
 * The packages of the image that the advisory is about, or all of the image; none when it is about another artifact.
 */
function packagesOf(subject: Subject, image: NamedImage, packages: HeldPackages): "all" | HeldPackage[] {
  const { component_name: component, component_type: type, component_location: place } = subject;
  const isOfImage = isAboutImage(subject, image.path);
  if (isOfImage && component === "" && type === "" && place === "")
    return isForArchitecture(subject, image.architecture) ? "all" : [];
  const name = isOfImage ? component : packageOf(subject);
  const among = name ? new Set(storedNames(name).flatMap((each) => packages.named(each))) : packages.all;
  return [...among].filter((each) => isAboutPackage(subject, image, each, each.paths));
}

import { compareWithNamed, isVersion, type VersionOrder } from "@moorage/kernel/lib/versions";
import type { Row } from "@moorage/kernel/store";
import { goVersion, parsedPurl } from "@moorage/kernel/lib/purls";
import { lookupsOf, type PackageLookup, versionOrder } from "./package-keys.ts";
import { componentOf } from "./image-component.ts";

type HeldPackage = Omit<Row<"packages">, "matched">;

/** The order of the versions of a package; undefined for an ecosystem in which nothing is found. */
export function orderOf(held: HeldPackage): VersionOrder | undefined {
  return versionOrder(lookupsOfPackage(held)[0]?.key ?? "");
}

/**
 * Whether the package is at the version or a later one. `name`: the package itself or its source, whose version is then
 * compared. Texts that are no versions are only the same or another.
 */
export function isAtLeast(held: HeldPackage, name: string, version: string): boolean {
  return compared(held, name, version, (difference) => difference >= 0);
}

/** Whether the package is at just that version. */
export function isSameVersion(held: HeldPackage, name: string, version: string): boolean {
  return compared(held, name, version, (difference) => difference === 0);
}

function compared(held: HeldPackage, name: string, version: string, holds: (difference: number) => boolean): boolean {
  const lookups = lookupsOfPackage(held);
  const isItsOwnSource = held.name === held.source_name;
  const lookup = lookups.find(({ key }) => nameIn(key) === name) ?? (isItsOwnSource ? lookups[0] : undefined);
  const ours = lookup?.version ?? held.version;
  const theirs = parsedPurl(held.purl)?.type === "golang" ? goVersion(version) : version;
  if (ours === theirs) return true;
  const order = orderOf(held);
  return (
    order !== undefined &&
    isVersion(order, ours) &&
    isVersion(order, theirs) &&
    holds(compareWithNamed(order, ours, theirs))
  );
}

function lookupsOfPackage(held: HeldPackage): PackageLookup[] {
  const component = componentOf(held);
  return component === undefined ? [] : lookupsOf(component);
}

const nameIn = (key: string): string => key.slice(key.indexOf("/") + 1);

import { isObject } from "@moorage/kernel/lib/json";
import { IMAGE_TYPES, namedPurl, parsedPurl, type Purl, writePurl } from "@moorage/kernel/lib/purls";
import { UnreadableRecord } from "../records/record.ts";
import { platformRelease, type PlatformRelease } from "./platforms.ts";

/** A product of a CSAF document: a purl, or the name of what has none; and the product that it is a component of. */
export interface CsafProduct {
  name: string;
  /** Empty for a product by itself. */
  of: string;
  /** It is a package of a release of a distribution, by a relationship. */
  isOfRelease?: boolean;
}

interface Known extends CsafProduct {
  /** The product is a release of a distribution. */
  release?: PlatformRelease | undefined;
}

interface Relationship {
  part: string;
  whole: string;
  isExternal: boolean;
}

/** How deep relationships of relationships are followed. */
const MAX_DEPTH = 8;
const DISTRIBUTION_TYPES: ReadonlySet<string> = new Set(["rpm", "deb", "apk"]);

/**
 * The products of a product tree by their ids. A package that is related to a release of a distribution, however, is a
 * package of that release. What is an external component of anything else is no product of its own. Source: OASIS CSAF
 * 2.0, 3.2.2, product tree and relationships.
 */
export function csafProducts(tree: unknown): ReadonlyMap<string, CsafProduct> {
  const found = productsIn(tree);
  const relationships = relationshipsIn(tree);
  const resolve = (id: string, depth: number): Known | undefined => {
    const known = found.get(id);
    const relationship = relationships.get(id);
    if (known !== undefined || relationship === undefined || depth > MAX_DEPTH) return known;
    // What is related to itself by others is not followed in a circle.
    relationships.delete(id);
    const [part, whole] = [resolve(relationship.part, depth + 1), resolve(relationship.whole, depth + 1)];
    const product = part && whole && related(part, whole, relationship.isExternal);
    if (product !== undefined) found.set(id, product);
    return product;
  };
  for (const id of Array.from(relationships.keys())) resolve(id, 0);
  return found;
}

function related(part: Known, whole: Known, isExternal: boolean): CsafProduct | undefined {
  // An image is itself, whatever it runs on.
  if (part.of === "" && IMAGE_TYPES.has(parsedPurl(part.name)?.type ?? "")) return { name: part.name, of: "" };
  if (whole.release !== undefined && part.of === "") {
    const name = inRelease(part.name, whole.release);
    if (name !== undefined) return { name, of: "", isOfRelease: true };
  }
  return isExternal ? undefined : { name: part.name, of: whole.name };
}

/**
 * The purl of a package in a release. Undefined for what is no package of the distribution, or of a module of it
 * without the version: other modules have a package of the same name.
 */
function inRelease(name: string, { type, namespace, distro }: PlatformRelease): string | undefined {
  const purl = parsedPurl(name) ?? (type === "rpm" ? rpmNamed(name, namespace) : undefined);
  if (purl === undefined || !DISTRIBUTION_TYPES.has(purl.type) || purl.type !== type) return undefined;
  if (purl.qualifiers.has("rpmmod") && purl.version === "") return undefined;
  const qualifiers = { distro, ...Object.fromEntries([...purl.qualifiers].filter(([, value]) => value !== "")) };
  return writePurl({ ...purl, namespace: purl.namespace || namespace, qualifiers });
}

const RPM_NAME = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,200}$/;
const ARCHITECTURE = /^(?:noarch|src|nosrc|x86_64|i[3-6]86|aarch64|ppc64le|ppc64|s390x|s390|riscv64|armv7hl|armv6hl)$/;

/** A package of RPM by its name alone, or by name, version, release and architecture, as SUSE writes it. */
function rpmNamed(text: string, namespace: string): Purl | undefined {
  const dot = text.lastIndexOf(".");
  const arch = text.slice(dot + 1);
  if (text.length > 300) return undefined;
  if (dot <= 0 || !ARCHITECTURE.test(arch))
    return RPM_NAME.test(text)
      ? namedPurl({ type: "rpm", namespace, name: text, version: "", qualifiers: new Map() })
      : undefined;
  const whole = text.slice(0, dot);
  const release = whole.lastIndexOf("-");
  const version = whole.lastIndexOf("-", release - 1);
  if (version <= 0) return undefined;
  const [name, rest] = [whole.slice(0, version), whole.slice(version + 1)];
  const colon = rest.indexOf(":");
  const epoch = colon < 0 ? "" : rest.slice(0, colon);
  if (!RPM_NAME.test(name) || !/^\d{0,6}$/.test(epoch)) return undefined;
  const qualifiers = new Map([["arch", arch], ...(epoch === "" || epoch === "0" ? [] : [["epoch", epoch] as const])]);
  return namedPurl({ type: "rpm", namespace, name, version: rest.slice(colon + 1), qualifiers });
}

/** The products of branches and those beside them. */
function productsIn(tree: unknown): Map<string, Known> {
  const found = new Map<string, Known>();
  const add = (value: unknown): void => {
    if (!isObject(value) || typeof value["product_id"] !== "string") return;
    const { product_identification_helper: helper, name } = value;
    const { purl, cpe } = isObject(helper) ? helper : {};
    const called = typeof purl === "string" ? purl : typeof name === "string" ? name : "";
    const release = typeof purl !== "string" && typeof cpe === "string" ? platformRelease(cpe) : undefined;
    found.set(value["product_id"], { name: called, of: "", release });
  };
  // Branches nest as deep as a document may.
  const open: unknown[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isObject(node)) continue;
    add(node["product"]);
    for (const each of objectsOf(node["full_product_names"])) add(each);
    // One by one: as arguments of one call they would be too many.
    for (const branch of objectsOf(node["branches"])) open.push(branch);
  }
  return found;
}

function relationshipsIn(tree: unknown): Map<string, Relationship> {
  const found = new Map<string, Relationship>();
  for (const each of objectsOf(isObject(tree) ? tree["relationships"] : undefined)) {
    const { category, product_reference: part, relates_to_product_reference: whole, full_product_name: full } = each;
    if (!isObject(full) || typeof full["product_id"] !== "string") continue;
    const isExternal = category === "external_component_of";
    found.set(full["product_id"], { part: String(part), whole: String(whole), isExternal });
  }
  return found;
}

/** The ids of products by the group that has them. */
export function csafGroups(tree: unknown): ReadonlyMap<string, readonly string[]> {
  const groups = objectsOf(isObject(tree) ? tree["product_groups"] : undefined);
  return new Map(groups.map(({ group_id: id, product_ids: ids }) => [String(id), textsOf(ids)]));
}

/** The parts of a vulnerability that say something of products by their ids or by groups. */
const NOTES = ["flags", "threats", "remediations"] as const;
/** Ten times what the largest documents of vendors come to. A few hundred bytes can name millions by groups. */
const MAX_NAMED = 1_000_000;

/**
 * Throws an UnreadableRecord for a document whose notes name too many products in all, each product of a group counted
 * where the group is named. Looks at each note once, and at no product.
 */
export function requireFewNamed(root: Record<string, unknown>): void {
  const groups = csafGroups(root["product_tree"]);
  let named = 0;
  for (const vulnerability of objectsOf(root["vulnerabilities"]))
    for (const part of NOTES)
      for (const { product_ids: ids, group_ids: ofGroups } of objectsOf(vulnerability[part])) {
        named += Array.isArray(ids) ? ids.length : 0;
        for (const group of textsOf(ofGroups)) named += groups.get(group)?.length ?? 0;
        if (named > MAX_NAMED)
          throw new UnreadableRecord(
            `vulnerabilities: their notes name more than ${MAX_NAMED} products in all, with those of groups`,
          );
      }
}

export function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

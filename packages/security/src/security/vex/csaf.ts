import { isObject } from "@moorage/kernel/lib/json";
import { parsedPurl } from "@moorage/kernel/lib/purls";
import { listAt, objectAt, textAt, timeAt } from "../records/fields.ts";
import { csaf } from "./records.ts";
import { csafGroups, type CsafProduct, csafProducts, objectsOf, textsOf } from "./csaf-products.ts";
import { idsOf } from "./openvex.ts";
import { MAX_REMEDIES, remedyOf, type VexRemedy } from "./remedies.ts";
import { justificationOf, type VexDocument, type VexStatement, type VexStatus } from "./types.ts";

/** The versions that fix it are `recommended` where SUSE writes it. */
const STATES: readonly (readonly [of: string, status: VexStatus])[] = [
  ["known_not_affected", "not_affected"],
  ["fixed", "fixed"],
  ["first_fixed", "fixed"],
  ["recommended", "fixed"],
  ["known_affected", "affected"],
  ["first_affected", "affected"],
  ["last_affected", "affected"],
  ["under_investigation", "under_investigation"],
];

/**
 * The statements of a CSAF document, those included that name no product that is known. Throws an UnreadableRecord that
 * names the field. Source: OASIS CSAF 2.0, VEX and security advisories.
 */
export function csafDocument(value: unknown): VexDocument {
  csaf(value);
  const root = objectAt(value, "the document");
  const document = objectAt(root["document"], "document");
  const tracking = objectAt(document["tracking"], "document.tracking");
  const { publisher } = document;
  const timeMs = timeAt(tracking["current_release_date"], "document.tracking.current_release_date");
  const products = csafProducts(root["product_tree"]);
  const groups = csafGroups(root["product_tree"]);
  return {
    id: textAt(tracking["id"], "document.tracking.id"),
    author: isObject(publisher) && typeof publisher["name"] === "string" ? publisher["name"] : "",
    subject: "",
    statements: listAt(root["vulnerabilities"], "vulnerabilities").flatMap((each, at) =>
      statementsOf(objectAt(each, `vulnerabilities[${at}]`), `vulnerabilities[${at}]`, { products, groups, timeMs }),
    ),
  };
}

type Groups = ReadonlyMap<string, readonly string[]>;

interface Context {
  products: ReadonlyMap<string, CsafProduct>;
  groups: Groups;
  timeMs: number;
}

function statementsOf(
  vulnerability: Record<string, unknown>,
  field: string,
  { products, groups, timeMs }: Context,
): VexStatement[] {
  // One that says nothing about products is no statement.
  if (vulnerability["product_status"] === undefined) return [];
  const ids = idsOf([vulnerability["cve"], ...objectsOf(vulnerability["ids"]).map(({ text }) => text)]);
  const status = objectAt(vulnerability["product_status"], `${field}.product_status`);
  const flags = notes(vulnerability["flags"], "label", groups);
  const threats = notes(
    objectsOf(vulnerability["threats"]).filter(({ category }) => category === "impact"),
    "details",
    groups,
  );
  const remedies = remediesByProduct(vulnerability["remediations"], groups);
  return STATES.flatMap(([key, state]) =>
    textsOf(listAt(status[key], `${field}.product_status.${key}`)).map((id): VexStatement => {
      const product = products.get(id);
      return {
        ids,
        status: state,
        timeMs,
        impact: threats.get(id) ?? "",
        justification: state === "not_affected" ? justificationOf(flags.get(id)) : "",
        remedies: [...(remedies.get(id)?.values() ?? [])],
        ...namedBy(product ?? { name: id, of: "" }, needsVersion(key, product)),
      };
    }),
  );
}

/** A fix of a package of a distribution is one version; without it nothing is fixed. */
function needsVersion(key: string, product: CsafProduct | undefined): boolean {
  return key === "recommended" || (product?.isOfRelease === true && (key === "fixed" || key === "first_fixed"));
}

function namedBy({ name, of }: CsafProduct, isVersioned: boolean): Pick<VexStatement, "product" | "component"> {
  if (isVersioned && !parsedPurl(name)?.version)
    return { product: `${name} without a version`.slice(0, 500), component: "" };
  return of === "" ? { product: name, component: "" } : { product: of, component: name };
}

/** The ids of the products that something is said of, those of groups included. */
function idsIn(note: Record<string, unknown>, groups: Groups): string[] {
  return [...textsOf(note["product_ids"]), ...textsOf(note["group_ids"]).flatMap((id) => groups.get(id) ?? [])];
}

/** What is said of products, by their ids. */
function notes(value: unknown, key: string, groups: Groups): Map<string, string> {
  const found = new Map<string, string>();
  for (const note of objectsOf(value)) {
    const text = note[key];
    if (typeof text === "string") for (const id of idsIn(note, groups)) if (!found.has(id)) found.set(id, text);
  }
  return found;
}

/**
 * What can be done about it in the products, by their ids: the first of them, each once. A product is stated as often
 * as a document likes, so this is found out once.
 */
function remediesByProduct(value: unknown, groups: Groups): Map<string, Map<string, VexRemedy>> {
  const found = new Map<string, Map<string, VexRemedy>>();
  for (const each of objectsOf(value)) {
    const remedy = remedyOf(each["category"], each["details"], each["url"]);
    if (remedy === undefined) continue;
    const key = JSON.stringify(remedy);
    for (const id of idsIn(each, groups)) {
      const known = found.get(id) ?? new Map<string, VexRemedy>();
      if (known.size < MAX_REMEDIES) found.set(id, known.set(key, remedy));
    }
  }
  return found;
}

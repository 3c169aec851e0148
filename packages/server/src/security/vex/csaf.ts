import { isObject } from "../../lib/json.ts";
import { listAt, objectAt, textAt, timeAt } from "../feeds/fields.ts";
import { csaf } from "../feeds/vex.ts";
import { idsOf } from "./openvex.ts";
import { justificationOf, type VexDocument, type VexStatement, type VexStatus } from "./types.ts";

const STATES: readonly (readonly [of: string, status: VexStatus])[] = [
  ["known_not_affected", "not_affected"],
  ["fixed", "fixed"],
  ["first_fixed", "fixed"],
  ["known_affected", "affected"],
  ["first_affected", "affected"],
  ["last_affected", "affected"],
  ["under_investigation", "under_investigation"],
];

/** A product of the tree: the purl, or the name of what has none; and of what it is a component. */
interface Product {
  name: string;
  of: string;
}

/** The statements of a CSAF document. Throws an UnreadableRecord that names the field. Source: OASIS CSAF 2.0, VEX. */
export function csafDocument(value: unknown): VexDocument {
  csaf(value);
  const root = objectAt(value, "the document");
  const document = objectAt(root["document"], "document");
  const tracking = objectAt(document["tracking"], "document.tracking");
  const { publisher } = document;
  const timeMs = timeAt(tracking["current_release_date"], "document.tracking.current_release_date");
  const products = productsOf(root["product_tree"]);
  const groups = groupsOf(root["product_tree"]);
  return {
    id: textAt(tracking["id"], "document.tracking.id"),
    author: isObject(publisher) && typeof publisher["name"] === "string" ? publisher["name"] : "",
    subject: "",
    statements: listAt(root["vulnerabilities"], "vulnerabilities").flatMap((each, at) =>
      statementsOf(objectAt(each, `vulnerabilities[${at}]`), `vulnerabilities[${at}]`, { products, groups, timeMs }),
    ),
  };
}

interface Context {
  products: ReadonlyMap<string, Product>;
  groups: ReadonlyMap<string, readonly string[]>;
  timeMs: number;
}

function statementsOf(
  vulnerability: Record<string, unknown>,
  field: string,
  { products, groups, timeMs }: Context,
): VexStatement[] {
  const ids = idsOf([vulnerability["cve"], ...objectsOf(vulnerability["ids"]).map(({ text }) => text)]);
  const status = objectAt(vulnerability["product_status"], `${field}.product_status`);
  const flags = notes(vulnerability["flags"], "label", groups);
  const threats = notes(
    objectsOf(vulnerability["threats"]).filter(({ category }) => category === "impact"),
    "details",
    groups,
  );
  return STATES.flatMap(([key, state]) =>
    textsOf(listAt(status[key], `${field}.product_status.${key}`)).flatMap((id): VexStatement[] => {
      const product = products.get(id);
      if (product === undefined) return [];
      const said = { ids, status: state, timeMs, impact: threats.get(id) ?? "" };
      const justification = state === "not_affected" ? justificationOf(flags.get(id)) : "";
      return [
        product.of === ""
          ? { ...said, justification, product: product.name, component: "" }
          : { ...said, justification, product: product.of, component: product.name },
      ];
    }),
  );
}

/** What is said of products, by their ids; of a group of them by each. */
function notes(value: unknown, key: string, groups: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  const found = new Map<string, string>();
  for (const note of objectsOf(value)) {
    const text = note[key];
    const ids = [...textsOf(note["product_ids"]), ...textsOf(note["group_ids"]).flatMap((id) => groups.get(id) ?? [])];
    if (typeof text === "string") for (const id of ids) if (!found.has(id)) found.set(id, text);
  }
  return found;
}

function productsOf(tree: unknown): Map<string, Product> {
  const found = new Map<string, Product>();
  const add = (value: unknown): void => {
    if (!isObject(value) || typeof value["product_id"] !== "string") return;
    const { product_identification_helper: helper, name } = value;
    const purl = isObject(helper) ? helper["purl"] : undefined;
    const called = typeof purl === "string" ? purl : typeof name === "string" ? name : "";
    found.set(value["product_id"], { name: called, of: "" });
  };
  // Branches nest as deep as a document may.
  const open: unknown[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isObject(node)) continue;
    add(node["product"]);
    for (const each of objectsOf(node["full_product_names"])) add(each);
    open.push(...objectsOf(node["branches"]));
  }
  for (const {
    category,
    product_reference: part,
    relates_to_product_reference: whole,
    full_product_name: full,
  } of objectsOf(isObject(tree) ? tree["relationships"] : undefined)) {
    if (!isObject(full) || typeof full["product_id"] !== "string" || category === "external_component_of") continue;
    const [component, product] = [found.get(String(part)), found.get(String(whole))];
    if (component !== undefined && product !== undefined)
      found.set(full["product_id"], { name: component.name, of: product.name });
  }
  return found;
}

function groupsOf(tree: unknown): Map<string, string[]> {
  const groups = objectsOf(isObject(tree) ? tree["product_groups"] : undefined);
  return new Map(groups.map(({ group_id: id, product_ids: ids }) => [String(id), textsOf(ids)]));
}

function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

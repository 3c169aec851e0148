import { objectAt, textAt, listAt, productKey, timeAt, textIfAny } from "../records/fields.ts";
import { type Read, UnreadableRecord, recordOf } from "../records/record.ts";
import { purlOfRefs, refsIn } from "./bom-links.ts";
import { requireFewNamed } from "./csaf-products.ts";

/** The record of an OpenVEX document. Throws an UnreadableRecord that names the field. */
export function openVex(value: unknown): Read {
  const document = objectAt(value, "the document");
  if (!textAt(document["@context"], "@context").startsWith("https://openvex.dev/ns"))
    throw new UnreadableRecord("@context: is not that of OpenVEX");
  const about = new Set<string>();
  const products = new Set<string>();
  for (const [at, each] of listAt(document["statements"], "statements").entries()) {
    const field = `statements[${at}]`;
    const statement = objectAt(each, field);
    const vulnerability = objectAt(statement["vulnerability"], `${field}.vulnerability`);
    about.add(textAt(vulnerability["name"], `${field}.vulnerability.name`));
    const state = textAt(statement["status"], `${field}.status`);
    if (!OPENVEX_STATES.includes(state))
      throw new UnreadableRecord(`${field}.status: must be one of ${OPENVEX_STATES.join(", ")}`);
    if (
      state === "not_affected" &&
      statement["justification"] === undefined &&
      statement["impact_statement"] === undefined
    )
      throw new UnreadableRecord(`${field}.justification: not_affected needs a justification or an impact_statement`);
    for (const [n, product] of listAt(statement["products"], `${field}.products`).entries())
      for (const name of openVexNames(product, `${field}.products[${n}]`)) products.add(productKey(name));
  }
  return recordOf(
    {
      id: textAt(document["@id"], "@id"),
      modified:
        document["last_updated"] === undefined
          ? timeAt(document["timestamp"], "timestamp")
          : timeAt(document["last_updated"], "last_updated"),
      about: [...about],
      products: [...products],
      body: JSON.stringify(document),
    },
    "@id",
  );
}

/**
 * The record of a CSAF document of one of these profiles. What a vulnerability without an id or without a status of
 * products says is about nothing. Throws an UnreadableRecord that names the field.
 */
export function csaf(value: unknown): Read {
  const root = objectAt(value, "the document");
  const document = objectAt(root["document"], "document");
  if (document["csaf_version"] !== "2.0") throw new UnreadableRecord("document.csaf_version: must be 2.0");
  if (!CATEGORIES.includes(String(document["category"])))
    throw new UnreadableRecord(`document.category: must be one of ${CATEGORIES.join(", ")}`);
  const tracking = objectAt(document["tracking"], "document.tracking");
  const about = new Set<string>();
  for (const [at, each] of listAt(root["vulnerabilities"], "vulnerabilities").entries()) {
    const field = `vulnerabilities[${at}]`;
    const vulnerability = objectAt(each, field);
    objectAt(vulnerability["product_status"] ?? {}, `${field}.product_status`);
    const ids = listAt(vulnerability["ids"], `${field}.ids`).map((id, n) =>
      textAt(objectAt(id, `${field}.ids[${n}]`)["text"], `${field}.ids[${n}].text`),
    );
    const cve = textIfAny(vulnerability["cve"], `${field}.cve`);
    for (const id of cve === undefined ? ids : [cve, ...ids]) about.add(id);
  }
  requireFewNamed(root);
  const products = new Set<string>();
  collectPurls(root["product_tree"], products);
  return recordOf(
    {
      id: textAt(tracking["id"], "document.tracking.id"),
      modified: timeAt(tracking["current_release_date"], "document.tracking.current_release_date"),
      about: [...about],
      products: [...products],
      body: JSON.stringify(root),
    },
    "document.tracking.id",
  );
}

/**
 * The record of a CycloneDX document with vulnerabilities; `stem` is its id if it has none. Throws an UnreadableRecord
 * that names the field.
 */
export function cycloneDx(value: unknown, stem: string): Read {
  const document = objectAt(value, "the document");
  if (document["bomFormat"] !== "CycloneDX") throw new UnreadableRecord("bomFormat: must be CycloneDX");
  const metadata = objectAt(document["metadata"] ?? {}, "metadata");
  const purls = new Map<string, string>();
  collectComponents([metadata["component"], document["components"]], purls);
  const about = new Set<string>();
  const products = new Set<string>();
  for (const [at, each] of listAt(document["vulnerabilities"], "vulnerabilities").entries()) {
    const field = `vulnerabilities[${at}]`;
    const vulnerability = objectAt(each, field);
    about.add(textAt(vulnerability["id"], `${field}.id`));
    for (const [n, target] of listAt(vulnerability["affects"], `${field}.affects`).entries()) {
      const ref = textAt(objectAt(target, `${field}.affects[${n}]`)["ref"], `${field}.affects[${n}].ref`);
      products.add(productKey(purlOfRefs(refsIn(ref), purls) ?? ref));
    }
  }
  return recordOf(
    {
      id: textIfAny(document["serialNumber"], "serialNumber") ?? stem,
      modified: metadata["timestamp"] === undefined ? 0 : timeAt(metadata["timestamp"], "metadata.timestamp"),
      about: [...about],
      products: [...products],
      body: JSON.stringify(document),
    },
    "serialNumber",
  );
}

/** The purls of components by their bom-ref, wherever they are nested; the depth of a document is bounded. */
export function collectComponents(value: unknown, found: Map<string, string>): void {
  if (typeof value !== "object" || value === null) return;
  const { "bom-ref": ref, purl } = value as Record<string, unknown>;
  if (typeof ref === "string" && typeof purl === "string") found.set(ref, purl);
  for (const each of Array.isArray(value) ? value : [(value as Record<string, unknown>)["components"]])
    collectComponents(each, found);
}

/** The purls below a product tree, whose branches nest; the depth of a document is bounded. */
function collectPurls(value: unknown, found: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, each] of Object.entries(value))
    if (key === "purl" && typeof each === "string") found.add(productKey(each));
    else collectPurls(each, found);
}

/** Those that say which products are affected. Cisco, Siemens and SUSE publish advisories. */
const CATEGORIES = ["csaf_vex", "csaf_security_advisory"];

const OPENVEX_STATES = ["not_affected", "affected", "fixed", "under_investigation"];

function openVexNames(value: unknown, field: string): string[] {
  const product = objectAt(value, field);
  const identifiers = objectAt(product["identifiers"] ?? {}, `${field}.identifiers`);
  return [
    textIfAny(product["@id"], `${field}.@id`),
    textIfAny(identifiers["purl"], `${field}.identifiers.purl`),
  ].flatMap((name) => name ?? []);
}

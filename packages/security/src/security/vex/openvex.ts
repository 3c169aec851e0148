import { listAt, objectAt, textAt, textIfAny, timeAt } from "../records/fields.ts";
import { openVex } from "./records.ts";
import { remediesOf, remedyOf } from "./remedies.ts";
import { justificationOf, type VexDocument, type VexStatement, type VexStatus } from "./types.ts";

/** The statements of an OpenVEX document. Throws an UnreadableRecord that names the field. Source: OpenVEX 0.2. */
export function openVexDocument(value: unknown): VexDocument {
  openVex(value);
  const document = objectAt(value, "the document");
  const made = document["last_updated"] ?? document["timestamp"];
  return {
    id: textAt(document["@id"], "@id"),
    author: textIfAny(document["author"], "author") ?? "",
    subject: "",
    statements: listAt(document["statements"], "statements").flatMap((each, at) =>
      statementsOf(objectAt(each, `statements[${at}]`), `statements[${at}]`, made),
    ),
  };
}

function statementsOf(statement: Record<string, unknown>, field: string, made: unknown): VexStatement[] {
  const vulnerability = objectAt(statement["vulnerability"], `${field}.vulnerability`);
  const aliases = listAt(vulnerability["aliases"], `${field}.vulnerability.aliases`);
  const said = {
    ids: idsOf([vulnerability["name"], ...aliases]),
    status: statement["status"] as VexStatus,
    justification: justificationOf(statement["justification"]),
    impact: [statement["impact_statement"], statement["status_notes"]].find((text) => typeof text === "string") ?? "",
    remedies: remediesOf([remedyOf("action", statement["action_statement"])]),
    timeMs: timeAt(statement["last_updated"] ?? statement["timestamp"] ?? made, `${field}.timestamp`),
  };
  return listAt(statement["products"], `${field}.products`).flatMap((each, n) => {
    const product = objectAt(each, `${field}.products[${n}]`);
    const parts = listAt(product["subcomponents"], `${field}.products[${n}].subcomponents`);
    const components = parts.map((part, m) => nameOf(part, `${field}.products[${n}].subcomponents[${m}]`));
    const name = nameOf(product, `${field}.products[${n}]`);
    return (components.length === 0 ? [""] : components).map((component) => ({ ...said, product: name, component }));
  });
}

/** The purl if there is one, since it says what the other name may only call. */
function nameOf(value: unknown, field: string): string {
  const product = objectAt(value, field);
  const identifiers = objectAt(product["identifiers"] ?? {}, `${field}.identifiers`);
  return textIfAny(identifiers["purl"], `${field}.identifiers.purl`) ?? textIfAny(product["@id"], `${field}.@id`) ?? "";
}

/** Ids in lower case, each once. */
export function idsOf(ids: readonly unknown[]): string[] {
  return [...new Set(ids.filter((id) => typeof id === "string" && id !== "").map((id) => String(id).toLowerCase()))];
}

import { isoTime } from "@moorage/kernel/lib/timestamps";
import type { Decision, Decisions } from "./decisions.ts";
import type { Publisher } from "./openvex.ts";
import { productOf } from "./products.ts";
import { type Statement, statementOf } from "./statements.ts";

/** The names of states in CSAF. */
const STATUS = {
  not_affected: "known_not_affected",
  affected: "known_affected",
  fixed: "fixed",
  under_investigation: "under_investigation",
} as const satisfies Record<Statement["status"], string>;

interface Stated {
  decision: Decision;
  statement: Statement;
  /** The products of the tree that it is about. */
  products: string[];
}

/**
 * The CSAF 2.0 document of the profile VEX: the same at each reading until something changes. Source: OASIS CSAF 2.0,
 * sections 3 and 4.5.
 */
export function csafOf(decisions: Decisions, publisher: Publisher): object {
  const tree = new Tree();
  const stated = decisions.list.map((decision): Stated => {
    const statement = statementOf(decision);
    const product = productOf(decision.advisory, statement.versions, publisher.registry);
    return { decision, statement, products: tree.add(product, decision.advisory.advisory_id) };
  });
  const byName = Map.groupBy(stated, ({ decision }) => decision.aliases[0] ?? "");
  const date = isoTime(decisions.changedMs);
  // Versions have to go up with each change, without a history of them: as seconds in the last part.
  const version = `1.0.${Math.floor(decisions.changedMs / 1000)}`;
  return {
    document: {
      category: "csaf_vex",
      csaf_version: "2.0",
      lang: "en",
      publisher: { category: "vendor", name: publisher.name, namespace: publisher.url },
      title: `Vulnerabilities in the artifacts of ${publisher.name}`,
      tracking: {
        id: `moorage-${decisions.group.replaceAll("/", "-")}`,
        status: "final",
        version,
        initial_release_date: date,
        current_release_date: date,
        generator: { engine: { name: "moorage" }, date },
        revision_history: [{ number: version, date, summary: "As of the latest approved event." }],
      },
    },
    product_tree: tree.toJSON(),
    vulnerabilities: [...byName].map(([name, all]) => vulnerabilityOf(name, all)),
  };
}

/** The products: artifacts, components, and components in artifacts, which relationships name. */
class Tree {
  readonly #names = new Map<string, { name: string; product_id: string; purl: string }>();
  readonly #relationships: object[] = [];

  /** Adds what an advisory is about; returns the ids of the products. */
  add({ purl, name, components }: ReturnType<typeof productOf>, advisory: string): string[] {
    if (components.length === 0) return [this.#name(purl, name)];
    return components.map((component, at) => {
      const id = components.length === 1 ? advisory : `${advisory}-${at + 1}`;
      this.#relationships.push({
        category: "default_component_of",
        product_reference: this.#name(component.purl, component.name),
        relates_to_product_reference: this.#name(purl, name),
        full_product_name: { name: `${component.name} in ${name}`, product_id: id },
      });
      return id;
    });
  }

  #name(purl: string, name: string): string {
    const known = this.#names.get(purl);
    if (known !== undefined) return known.product_id;
    const product_id = `P-${this.#names.size + 1}`;
    this.#names.set(purl, { name, product_id, purl });
    return product_id;
  }

  toJSON(): object {
    const names = [...this.#names.values()];
    return {
      full_product_names: names.map(({ name, product_id, purl }) => ({
        name,
        product_id,
        product_identification_helper: { purl },
      })),
      ...(this.#relationships.length > 0 && { relationships: this.#relationships }),
    };
  }
}

const CVE = /^CVE-[0-9]{4}-[0-9]{4,}$/;

function vulnerabilityOf(name: string, given: readonly Stated[]): object {
  const all = distinct(given);
  const others = [...new Set(given.flatMap(({ decision }) => [...decision.aliases, decision.advisory.advisory_id]))];
  const ids = others
    .filter((id) => id !== name || !CVE.test(name))
    .map((text) => ({ system_name: systemOf(text), text }));
  const status = Map.groupBy(all, ({ statement }) => STATUS[statement.status]);
  const justified = all.filter(({ statement }) => statement.justification !== undefined);
  const threats = all.filter(({ statement }) => statement.impact !== undefined);
  const actions = all.filter(({ statement }) => statement.action !== undefined);
  const notes = [...new Set(all.flatMap(({ statement }) => statement.notes ?? []))];
  return {
    ...(CVE.test(name) && { cve: name }),
    ...(ids.length > 0 && { ids }),
    notes: [
      { category: "summary", text: `What was decided about ${name}.` },
      ...notes.map((text) => ({ category: "details", text })),
    ],
    product_status: Object.fromEntries(
      [...status].map(([each, those]) => [each, [...new Set(those.flatMap(({ products }) => products))]]),
    ),
    ...(justified.length > 0 && {
      flags: justified.map(({ statement, products, decision }) => ({
        label: statement.justification,
        date: isoTime(decision.timeMs),
        product_ids: products,
      })),
    }),
    ...(threats.length > 0 && {
      threats: threats.map(({ statement, products, decision }) => ({
        category: "impact",
        details: statement.impact,
        date: isoTime(decision.timeMs),
        product_ids: products,
      })),
    }),
    ...(actions.length > 0 && {
      remediations: actions.map(({ statement, products, decision }) => ({
        category: statement.remediation,
        details: statement.action,
        date: isoTime(decision.timeMs),
        product_ids: products,
      })),
    }),
  };
}

/** Of several statements about one product the latest: groups below may have advisories about the same artifact. */
function distinct(all: readonly Stated[]): Stated[] {
  const latest = new Map<string, Stated>();
  for (const each of all.toSorted((a, b) => a.decision.timeMs - b.decision.timeMs))
    for (const product of each.products) latest.set(product, each);
  return [...new Set(latest.values())].map((each) => ({
    ...each,
    products: each.products.filter((product) => latest.get(product) === each),
  }));
}

function systemOf(id: string): string {
  if (id.startsWith("MRG-")) return "Moorage";
  const [prefix = ""] = id.split("-", 1);
  return prefix === "" ? "id" : prefix;
}

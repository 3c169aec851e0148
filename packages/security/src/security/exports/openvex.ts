import { isoTime } from "@moorage/kernel/lib/timestamps";
import type { Decisions } from "./decisions.ts";
import { productOf } from "./products.ts";
import { statementOf } from "./statements.ts";

/** Who publishes the documents of a group. */
export interface Publisher {
  /** The group's path. */
  name: string;
  /** The URL of the installation, without a slash at the end. */
  url: string;
  /** The host of images. */
  registry: string;
}

/** The OpenVEX document: the same at each reading until something changes. Source: OpenVEX specification 0.2.0. */
export function openVexOf({ group, list, changedMs }: Decisions, { name, url, registry }: Publisher): object {
  return {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": `${url}/vulnerabilities/v2/groups/${group}/vex`,
    author: name,
    timestamp: isoTime(changedMs),
    // A version is higher than all before, also when an advisory was deleted.
    version: Math.max(1, Math.floor(changedMs / 1000)),
    tooling: "moorage",
    statements: list.map((decision) => {
      const { advisory, aliases, timeMs } = decision;
      const { status, justification, impact, action, notes, versions } = statementOf(decision);
      const product = productOf(advisory, versions, registry);
      const [id = "", ...others] = aliases;
      return {
        "@id": `${url}/vulnerabilities/v2/advisories/${advisory.uid}`,
        vulnerability: { name: id, aliases: [...others, advisory.advisory_id] },
        timestamp: isoTime(timeMs),
        products: [
          {
            "@id": product.purl,
            identifiers: { purl: product.purl },
            ...(product.components.length > 0 && {
              subcomponents: product.components.map(({ purl }) => ({ "@id": purl, identifiers: { purl } })),
            }),
          },
        ],
        status,
        ...(justification !== undefined && { justification }),
        ...(impact !== undefined && { impact_statement: impact }),
        ...(action !== undefined && { action_statement: action }),
        ...(notes !== undefined && { status_notes: notes }),
      };
    }),
  };
}

import { isoTime } from "@moorage/kernel/lib/timestamps";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { select, type Row } from "@moorage/kernel/store";
import { searched } from "../artifacts/words.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { sendJson } from "../requests/send.ts";

const DEFAULT_SIZE = 20;
const MAX_SIZE = 250;
const MAX_FROM = 10_000;
const LAST_CHARACTER = "\u{10FFFF}";
/** Words of a search by which nothing is found here, such as `keywords:cli`. */
const QUALIFIER = /^[a-z-]+:/;

/**
 * GET of `-/v1/search`: the packages of a group of which a word begins with the first word of `text`, and whose names
 * contain the others, by name. Source: npm/registry, REGISTRY-API.md, "GET /-/v1/search".
 */
export async function sendSearch(exchange: LibraryExchange, group: string): Promise<void> {
  const { query, ecosystem } = exchange;
  const size = bounded(query.get("size"), DEFAULT_SIZE, MAX_SIZE);
  const from = bounded(query.get("from"), 0, MAX_FROM);
  const words = (query.get("text") ?? "")
    .replaceAll("\0", "")
    .split(/\s+/)
    .filter((word) => word !== "" && !QUALIFIER.test(word))
    .map(searched);
  const [first = "", ...others] = words.slice(0, 10);
  const conditions = ["a.parent = ?", "a.ecosystem = ?"];
  const parameters: (string | number)[] = [group, ecosystem.number];
  if (first !== "") {
    conditions.push(
      "a.uid in (select w.artifact from artifact_words as w where w.organization = ? and w.ecosystem = ? and w.word >= ? and w.word < ?)",
    );
    parameters.push(organizationOf(group), ecosystem.number, first, first + LAST_CHARACTER);
  }
  for (const word of others) {
    conditions.push("a.normalized like ? escape '!'");
    parameters.push(`%${word.replaceAll(/[!%_]/g, "!$&")}%`);
  }
  const where = conditions.join(" and ");
  const { found, total } = await read(exchange, async ({ tx }) => {
    const rows = await select<Row<"artifacts">>(
      tx,
      `select * from artifacts as a where ${where} order by a.normalized limit ? offset ?`,
      [...parameters, size, from],
    );
    const [count] = await select<{ n: number }>(
      tx,
      `select count(*) as n from artifacts as a where ${where}`,
      parameters,
    );
    return { found: rows, total: Number(count?.n ?? 0) };
  });
  const objects = found.map(({ name, description, latest_version: version, update_time: updateMs }) => ({
    package: {
      name,
      version,
      description,
      date: isoTime(updateMs),
      keywords: [],
      links: {},
      publisher: { username: "", email: "" },
      maintainers: [],
    },
    score: { final: 1, detail: { quality: 1, popularity: 1, maintenance: 1 } },
    searchScore: 1,
  }));
  sendJson(exchange, 200, { objects, total, time: isoTime(exchange.callData.nowMs) });
}

function bounded(given: string | null, fallback: number, max: number): number {
  const value = Number(given ?? fallback);
  return Number.isInteger(value) && value >= 0 ? Math.min(value, max) : fallback;
}

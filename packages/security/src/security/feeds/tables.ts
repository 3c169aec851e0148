import type { Generated } from "kysely";
import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * Sources of records on vulnerabilities and products. `origin`: `file` for those of MOORAGE_FEEDS_FILE, `command`
     * for the others. `products` is a JSON list. `run`: the import that may write. `newest`: the newest `modified` that
     * was read; `full_time`: when the last complete one ended. `error`: why the last attempt failed, empty when it did
     * not. `restate`: a mark of a change of `products`, until feed_statements follows it; empty otherwise. `coverage`:
     * a JSON list of `{space, records}`, how many records are about the packages of an ecosystem and release, and
     * `unmatched`: how many records can match nothing, in part or as a whole; both null until an import has read all of
     * the feed. `request_time`: when it was asked to be fetched before it is due, until an attempt has ended.
     * `delete_time`: since when it is being removed; null for all others. `covers`: a JSON list of the ecosystems and
     * releases that it covers by the word of whoever set it.
     */
    feeds: {
      name: string;
      format: string;
      address: string;
      licence: string;
      interval_ms: number;
      products: string;
      origin: string;
      run: string;
      etag: string;
      last_modified: string;
      newest: number | null;
      records: number;
      withdrawn: number;
      problems: number;
      coverage: string | null;
      unmatched: number | null;
      request_time: number | null;
      delete_time: number | null;
      covers: Generated<string>;
      attempt_time: number | null;
      success_time: number | null;
      full_time: number | null;
      duration_ms: number | null;
      error: string;
      create_time: number;
      restate: string;
      statements: Generated<number>;
      statements_unmatched: Generated<number>;
    };
    /**
     * What feeds say. `score_tenths`: CVSS in tenths. A record that its feed no longer has keeps its row, with
     * `removed` 1 and no body. `change`: from the counter of feed_changes; a record gets a new number whenever its row
     * changes.
     */
    feed_records: {
      feed: string;
      id: string;
      modified: number;
      withdrawn: number | null;
      removed: number;
      hash: string;
      severity: string;
      score_tenths: number | null;
      body: string;
      change: number;
    };
    /**
     * What records are found by. `kind`: `id` and `alias` (ids of the vulnerability, in lower case, as this feed
     * asserts them), `upstream` (ids of vulnerabilities that the record is about in its own packages, in lower case),
     * `former` (the same of a record that is removed and has findings), `about` (ids of vulnerabilities that a document
     * mentions, in lower case), `package`, `product`.
     */
    feed_keys: { kind: string; key: string; feed: string; record: string };
    /**
     * What documents of feeds say about products that their feed may decide about, from `from_time` until `until_time`,
     * in milliseconds since 1970; null while they do. Rows are only added and closed. `n` counts from 0 for a record.
     * `since`: since when it says the same, if the row follows one that differs in words or times. `ids`: a JSON list
     * in lower case. `product`, `component`, `time`: see VexStatement. `key`: see feed_statement_keys.
     */
    feed_statements: {
      feed: string;
      record: string;
      n: number;
      from_time: number;
      until_time: number | null;
      since: number;
      hash: string;
      ids: string;
      status: string;
      justification: string;
      impact: string;
      product: string;
      component: string;
      key: string;
      author: string;
      time: number;
      remedies: Generated<string>;
    };
    /** What statements are found by: the product (see productKeyOf) and each id of the vulnerability. */
    feed_statement_keys: { key: string; vulnerability: string; feed: string; record: string; n: number };
    /**
     * What the last import could not read (`kind` is UNREADABLE), and what it read and nothing can match (UNMATCHED),
     * the first of each. `record` is empty when the id is not known.
     */
    feed_problems: { feed: string; n: number; record: string; position: string; message: string; kind: string };
    /** The first statements of a feed's last import that were about nothing here, as attached_passed_over has them. */
    feed_unmatched: {
      feed: string;
      n: number;
      record: string;
      ids: string;
      status: string;
      product: string;
      reason: string;
    };
    /** One row: the last change number that was given. */
    feed_changes: { name: string; value: number };
  }
}

export const FEED_TABLES = declareTables({
  feeds: { key: ["name"] },
  feed_records: { key: ["feed", "id"], weight: "length(body)" },
  feed_keys: { key: ["kind", "key", "feed", "record"] },
  feed_statements: { key: ["feed", "record", "n"], weight: "length(ids) + length(impact) + length(product)" },
  feed_statement_keys: { key: ["key", "vulnerability", "feed", "record", "n"] },
  feed_problems: { key: ["feed", "n"] },
  feed_unmatched: { key: ["feed", "n"], weight: "length(ids) + length(product)" },
  feed_changes: { key: ["name"] },
});

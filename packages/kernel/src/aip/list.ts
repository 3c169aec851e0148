import { deflateRawSync, inflateRawSync } from "node:zlib";
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  equals,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { Capability, UIDPFilter } from "@moorage/api/messages";
import { sql } from "kysely";
import type { Call } from "../core/call.ts";
import { type FieldViolation, invalidArgument } from "../errors.ts";
import type { ResourceTable, Row, Tables } from "../store/index.ts";
import { neededFor } from "./access.ts";
import { type OrderFields, parseOrder } from "./order.ts";
import { fitting } from "./page-bytes.ts";
import { openPageToken, PAGE_TOKEN_LIFETIME_MS, type PageToken, sealPageToken, wrongPageToken } from "./page-token.ts";
import { type Condition, type Scope, scopeOf } from "./scope.ts";
import { type JudgeRow, type Scanned, type ScannedPage, scanPage } from "./scan-page.ts";
import { DEFAULT_PAGE_SIZE, type FoundPage, type PageQuery, queryPage, queryPageArrays } from "./page-query.ts";
import { type Cells, type Layout, type Stored, storedPage } from "../core/stored-answer.ts";

/** The fields that every List request has. */
interface ListRequest {
  uidp?: UIDPFilter;
  pageSize: number;
  pageToken: string;
  orderBy: string;
  skip: number;
}

/** The request of a List method. */
type Asked<I extends DescMessage> = MessageShape<I> & ListRequest;

/** A List method, the table of its rows and the fields that they can be sorted by. */
export interface ListSpec<T extends ResourceTable, I extends DescMessage, O extends DescMessage> {
  method: DescMethodUnary<I, O>;
  table: T;
  orderBy: OrderFields<keyof Row<T> & string>;
  /** The sort field if the request names none, followed by ` desc` for a descending order. */
  defaultOrder: string;
  /** Columns with texts of more than some thousand characters; see `PageQuery.large`. */
  large?: readonly (keyof Row<T> & string)[];
}

/** A list, with what its method's descriptor declares. */
export interface List<T extends ResourceTable, I extends DescMessage, O extends DescMessage> extends ListSpec<T, I, O> {
  request: I;
  /** The list has resources at and below the groups where the caller holds all of these. */
  needs: readonly Capability[];
}

const orders = new WeakMap<DescMethod, { fields: readonly string[]; fallback: string }>();

/**
 * The fields that a List method can be sorted by, and the order without any. Undefined for a method of which no list
 * was made.
 */
export function orderOf(method: DescMethod): { fields: readonly string[]; fallback: string } | undefined {
  return orders.get(method);
}

/** Makes a list. Throws if the method's access option names no capability. */
export function listOf<T extends ResourceTable, I extends DescMessage, O extends DescMessage>(
  spec: ListSpec<T, I, O>,
): List<T, I, O> {
  orders.set(spec.method, { fields: Object.keys(spec.orderBy), fallback: spec.defaultOrder });
  return { ...spec, request: spec.method.input, needs: neededFor(spec.method) };
}

/** A page, in the shape of every List response except for the name of the resources' field. */
export interface Page<T extends keyof Tables> {
  rows: Row<T>[];
  nextPageToken: string;
  totalCount: bigint;
  skipped: number;
}

const MAX_PAGE_SIZE = 200;
const MAX_BULK_SIZE = 1000;
const MAX_SKIP = 2_147_483_647;
const MAX_PLAIN_BYTES = 2_048;
/** What the request in a page token begins with when it is deflated; it is no character of base64. */
const PACKED = "~";
const PAGING = new Set(["page_size", "page_token", "order_by", "skip"]);

/**
 * What a service adds to a list: filters of its own, and resources outside of the groups that the caller may list from.
 */
export interface ListOptions<I extends DescMessage> {
  filters?: (request: MessageShape<I>) => Condition[];
  /**
   * The column whose index serves the filters: if the list is sorted by another column, the matches are looked up first
   * and then sorted. If undefined, the database chooses.
   */
  foundBy?: (request: MessageShape<I>) => string | undefined;
  /** Changes the scope of the list; it may widen it. */
  scope?: (scope: Scope, request: MessageShape<I>) => Scope;
}

/** What a service adds to a list of stored rows. */
export interface StoredListOptions<I extends DescMessage> extends ListOptions<I> {
  /** Judges rows by what no statement could find out; undefined when the request does not ask for that. */
  judge?: (request: MessageShape<I>) => JudgeRow | undefined;
}

/**
 * One page of a list of the resources that the caller may see, as docs/contract.md, "Listing", defines it: keyset
 * paging with a sealed token, a total over all pages, `skip` counted from the token's position. It ends early where its
 * rows are too large together. Throws INVALID_ARGUMENT on page_size, page_token, order_by or skip.
 */
export async function listPage<T extends ResourceTable, I extends DescMessage, O extends DescMessage>(
  call: Call,
  key: Uint8Array,
  list: List<T, I, O>,
  request: Asked<I>,
  options: ListOptions<I> = {},
): Promise<Page<T>> {
  return (await listFound(
    call,
    key,
    list,
    request,
    options,
    (query) => queryPage(call.tx, list.table, query),
    (row, column) => (row as Record<string, unknown>)[column],
  )) as Page<T>;
}

/** A list whose rows are sent as they are stored, without being turned into messages. */
export type StoredList<T extends ResourceTable, I extends DescMessage, O extends DescMessage> = List<T, I, O> & {
  /** The field of the response that holds the rows. */
  field: string;
  layout: Layout;
  /** The selected columns: those of the layout, then those that only serve for sorting. */
  columns: readonly string[];
};

/**
 * Makes such a list from a layout; the rows go to the response's field of the layout's message type. Throws if there is
 * no such field.
 */
export function storedListOf<T extends ResourceTable, I extends DescMessage, O extends DescMessage>(
  spec: ListSpec<T, I, O>,
  layout: Layout,
): StoredList<T, I, O> {
  const response: DescMessage = spec.method.output;
  const field = response.fields.find(({ message }) => message === layout.message)?.localName;
  if (field === undefined) throw new Error(`${response.typeName} holds no ${layout.message.typeName}`);
  const columns = [...new Set([...layout.columns, ...Object.values(spec.orderBy), "uid"])];
  return { ...listOf(spec), field, layout, columns };
}

/**
 * The same page as `listPage` returns, as a whole response. With a judge a bounded number of rows is looked at for it
 * (scanPage): it has no total, the response's `left_out_count` and `unknown_count` say what became of the other rows,
 * and it is not cached. Throws INVALID_ARGUMENT on `skip` then.
 */
export async function listStored<T extends ResourceTable, I extends DescMessage, O extends DescMessage>(
  call: Call,
  key: Uint8Array,
  list: StoredList<T, I, O>,
  request: Asked<I>,
  options: StoredListOptions<I> = {},
): Promise<Stored<O>> {
  const { table, columns, field, layout } = list;
  const response = list.method.output;
  const cell = (row: Cells, column: string): unknown => row[columns.indexOf(column)];
  let scanned: Scanned | undefined;
  const fetch = async (query: PageQuery, inForce: Asked<I>): Promise<ScannedPage<Cells>> => {
    const ask = (part: PageQuery): Promise<FoundPage<Cells>> => queryPageArrays(call.tx, table, part, columns);
    const judge = options.judge?.(inForce);
    if (judge === undefined) return ask(query);
    scanned = await scanPage(call, { query, ask, judge, cell });
    return scanned;
  };
  const { rows, totalCount, ...rest } = await listFound(call, key, list, request, options, fetch, cell);
  const { leftOutCount, unknownCount } = scanned ?? {};
  const own = scanned === undefined ? { totalCount } : { leftOutCount, unknownCount };
  const page = create(response, { ...rest, ...own } as object as MessageInitShape<O>);
  const stored = storedPage(response, field, page, layout, rows);
  return scanned === undefined ? stored : { ...stored, isUncached: true };
}

/** A page of the rows that `fetch` finds. */
export type PageOf<R> = Omit<Page<ResourceTable>, "rows"> & { rows: R[] };

/** The same page as `listPage` returns, of rows that `fetch` finds; `cell` reads a column of a row. */
export async function listFound<T extends ResourceTable, I extends DescMessage, O extends DescMessage, F>(
  call: Call,
  key: Uint8Array,
  list: List<T, I, O>,
  request: Asked<I>,
  options: ListOptions<I>,
  fetch: (query: PageQuery, inForce: Asked<I>) => Promise<FoundPage<F> | ScannedPage<F>>,
  cell: (row: F, column: string) => unknown,
): Promise<PageOf<F>> {
  const violations: FieldViolation[] = [];
  if (request.pageSize < 0) violations.push({ field: "page_size", description: "must not be negative" });
  if (request.skip < 0 || request.skip > MAX_SKIP)
    violations.push({ field: "skip", description: "must not be negative" });
  if (violations.length > 0) throw invalidArgument(...violations);
  const isBulk = call.bulk === true;
  const size = Math.min(request.pageSize || DEFAULT_PAGE_SIZE, isBulk ? MAX_BULK_SIZE : MAX_PAGE_SIZE);
  const token = request.pageToken === "" ? undefined : readToken(call, key, list, request);
  const inForce = token === undefined ? request : tokenRequest(list, token);
  const orders = parseOrder(inForce.orderBy, list.orderBy, list.defaultOrder);
  if (token !== undefined && token.position.length !== orders.length + 1)
    throw wrongPageToken("is not a token of this list");
  const ownScope = scopeOf(inForce.uidp, await call.visible(...list.needs));
  const scope = options.scope?.(ownScope, inForce) ?? ownScope;
  const filters = options.filters?.(inForce) ?? [];
  const foundBy = options.foundBy?.(inForce);
  const sortsMatches = foundBy !== undefined && foundBy !== orders[0]?.column;
  const query: PageQuery = {
    scope,
    filters,
    orders,
    sortsMatches,
    after: token?.position,
    limit: size + 1,
    offset: request.skip,
    uncounted: isBulk,
    ...(list.large && { large: list.large }),
  };
  const found = await fetch(query, inForce);
  const { rows, total, isCut } = found;
  const lookedAt = "lookedAt" in found ? found.lookedAt : undefined;
  const page = fitting(rows.slice(0, size));
  const last = isCut === true || page.length < rows.length ? page.at(-1) : lookedAt;
  const nextPageToken =
    last === undefined
      ? ""
      : sealPageToken(key, {
          list: list.request.typeName,
          request: token?.request ?? withoutPaging(list, request),
          issuedMs: call.nowMs,
          position: [...orders.map(({ column }) => column), "uid"].map(
            (column) => cell(last, column) as string | number,
          ),
        });
  return {
    rows: page,
    nextPageToken,
    totalCount: BigInt(total),
    skipped: request.skip,
  };
}

/** The part of a list that its page tokens depend on. */
interface TokensOf<I extends DescMessage> {
  request: I;
  orderBy: OrderFields;
  defaultOrder: string;
}

function withoutPaging<I extends DescMessage>({ request: schema }: TokensOf<I>, request: Asked<I>): string {
  const copy = { ...request, pageToken: "", pageSize: 0, skip: 0 };
  const bytes = toBinary(schema, copy);
  // A request with a thousand ids would make a token that is too long for an address.
  return bytes.length <= MAX_PLAIN_BYTES
    ? Buffer.from(bytes).toString("base64")
    : `${PACKED}${deflateRawSync(bytes).toString("base64")}`;
}

function tokenRequest<I extends DescMessage>({ request: schema }: TokensOf<I>, token: PageToken): Asked<I> {
  const { request } = token;
  // Only this installation makes tokens, so that what they unpack to is what once was a request.
  const bytes = request.startsWith(PACKED)
    ? inflateRawSync(Buffer.from(request.slice(PACKED.length), "base64"))
    : Buffer.from(request, "base64");
  return fromBinary(schema, bytes) as Asked<I>;
}

// Expiry is checked first: an expired token is ignored, even if the rest of the request does not match it.
function readToken<I extends DescMessage>(
  call: Call,
  key: Uint8Array,
  list: TokensOf<I>,
  request: Asked<I>,
): PageToken | undefined {
  const token = openPageToken(key, request.pageToken);
  if (call.nowMs - token.issuedMs > PAGE_TOKEN_LIFETIME_MS) return undefined;
  const schema: DescMessage = list.request;
  if (token.list !== schema.typeName) throw wrongPageToken("is not a token of this list");
  const own = tokenRequest(list, token);
  if (request.orderBy !== "" && !sameOrder(list, request.orderBy, own.orderBy))
    throw wrongPageToken("was given for another order_by");
  const now = reflect(schema, request);
  const then = reflect(schema, own);
  for (const field of schema.fields) {
    if (PAGING.has(field.name) || !now.isSet(field)) continue;
    const [left, right] = [reflect(schema, create(schema)), reflect(schema, create(schema))];
    left.set(field, now.get(field));
    if (then.isSet(field)) right.set(field, then.get(field));
    if (!equals(schema, left.message, right.message)) throw wrongPageToken(`was given for another ${field.name}`);
  }
  return token;
}

function sameOrder<I extends DescMessage>(
  { orderBy, defaultOrder }: TokensOf<I>,
  left: string,
  right: string,
): boolean {
  const text = (order: string): string => JSON.stringify(parseOrder(order, orderBy, defaultOrder));
  return text(left) === text(right);
}

/** The condition `t.column = value`, for the filters of a service. */
export function columnIs(column: string, value: string | number): Condition {
  // No stored text has a null character, and PostgreSQL takes none as a parameter.
  if (typeof value === "string" && value.includes("\0")) return sql`1 = 0`;
  return sql`${sql.ref(`t.${column}`)} = ${value}`;
}

/** The same for a field of the request, without a condition if the field has its default value. */
export function columnIsIfSet(column: string, value: string | number): Condition[] {
  return value === "" || value === 0 ? [] : [columnIs(column, value)];
}

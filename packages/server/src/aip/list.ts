import {
  create,
  type DescMessage,
  equals,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { UIDPFilter } from "@moorage/api";
import { sql } from "kysely";
import type { Call } from "../core/call.ts";
import { type FieldViolation, invalidArgument } from "../errors.ts";
import type { ResourceTable, Row, Tables } from "../store/index.ts";
import { type OrderFields, parseOrder } from "./order.ts";
import { openPageToken, PAGE_TOKEN_LIFETIME_MS, type PageToken, sealPageToken, wrongPageToken } from "./page-token.ts";
import { type Condition, type Scope, scopeOf } from "./scope.ts";
import { DEFAULT_PAGE_SIZE, type FoundPage, type PageQuery, queryPage, queryPageArrays } from "./page-query.ts";
import { type Cells, type Layout, type Stored, storedPage } from "../core/stored.ts";

/** What every List request has. */
export type ListRequest = MessageShape<DescMessage> & {
  uidp?: UIDPFilter;
  pageSize: number;
  pageToken: string;
  orderBy: string;
  skip: number;
};

/** A list: where its rows are and what they can be sorted by. */
export interface ListSpec<T extends ResourceTable> {
  table: T;
  request: DescMessage;
  orderBy: OrderFields;
  /** The field sorted by when the request names none, with ` desc` behind it where that is downwards. */
  defaultOrder: string;
}

/** A page, in the shape of every List response but for the name of its resources. */
export interface Page<T extends keyof Tables> {
  rows: Row<T>[];
  nextPageToken: string;
  totalCount: bigint;
  skipped: number;
}

const MAX_PAGE_SIZE = 200;
const MAX_SKIP = 2_147_483_647;
const PAGING = new Set(["page_size", "page_token", "order_by", "skip"]);

/**
 * What a room adds to a list: its own filters, read from the request in force, and rows seen outside the caller's
 * groups.
 */
export interface ListOptions<R> {
  filters?: (request: R) => Condition[];
  /**
   * The column by which the filters find what matches: in any other order what they find is sorted. Absent: the engine
   * chooses.
   */
  foundBy?: (request: R) => string | undefined;
  /** The scope in force; a room may widen it. */
  scope?: (scope: Scope, request: R) => Scope;
}

/**
 * One page of a list, exactly as contract §4 has it: keyset paging under a sealed token, totals over all pages, skip
 * from the cursor. `visible` are the groups that the caller may list from. Throws INVALID_ARGUMENT on page_size,
 * page_token, order_by or skip.
 */
export async function listPage<T extends ResourceTable, R extends ListRequest>(
  call: Call,
  key: Uint8Array,
  spec: ListSpec<T>,
  request: R,
  visible: string[],
  options: ListOptions<R> = {},
): Promise<Page<T>> {
  return (await listFound(
    call,
    key,
    spec,
    request,
    visible,
    options,
    (query) => queryPage(call.tx, spec.table, query),
    (row, column) => (row as Record<string, unknown>)[column],
  )) as Page<T>;
}

/** A list whose pages are answered as they are stored. */
export interface StoredListSpec<T extends ResourceTable, O extends DescMessage> extends ListSpec<T> {
  response: O;
  /** The field of the response that the rows are. */
  field: string;
  layout: Layout;
  /** What is selected: the layout's columns, then those that are only sorted by. */
  columns: readonly string[];
}

/**
 * Makes such a list of a layout; the one field of the response that holds its messages takes the rows. Throws, at boot,
 * where there is none.
 */
export function storedList<T extends ResourceTable, O extends DescMessage>(
  spec: ListSpec<T>,
  response: O,
  layout: Layout,
): StoredListSpec<T, O> {
  const field = response.fields.find(({ message }) => message === layout.message)?.localName;
  if (field === undefined) throw new Error(`${response.typeName} holds no ${layout.message.typeName}`);
  return {
    ...spec,
    response,
    field,
    layout,
    columns: [...new Set([...layout.columns, ...Object.values(spec.orderBy), "uid"])],
  };
}

/** The same page as `listPage` gives, as a whole answer. */
export async function listStored<T extends ResourceTable, O extends DescMessage, R extends ListRequest>(
  call: Call,
  key: Uint8Array,
  spec: StoredListSpec<T, O>,
  request: R,
  visible: string[],
  options: ListOptions<R> = {},
): Promise<Stored<O>> {
  const { columns, response, field, layout } = spec;
  const fetch = (query: PageQuery): Promise<FoundPage<Cells>> => queryPageArrays(call.tx, spec.table, query, columns);
  const { rows, ...rest } = await listFound(
    call,
    key,
    spec,
    request,
    visible,
    options,
    fetch,
    (row, column) => row[columns.indexOf(column)],
  );
  return storedPage(response, field, create(response, rest as object as MessageInitShape<O>), layout, rows);
}

/** A page of whatever `fetch` finds. */
export type PageOf<R> = Omit<Page<ResourceTable>, "rows"> & { rows: R[] };

/** The same page as `listPage` gives, of rows that `fetch` finds in its own way; `cell` reads a column of one. */
export async function listFound<T extends ResourceTable, R extends ListRequest, F>(
  call: Call,
  key: Uint8Array,
  spec: ListSpec<T>,
  request: R,
  visible: string[],
  options: ListOptions<R>,
  fetch: (query: PageQuery) => Promise<FoundPage<F>>,
  cell: (row: F, column: string) => unknown,
): Promise<PageOf<F>> {
  const violations: FieldViolation[] = [];
  if (request.pageSize < 0) violations.push({ field: "page_size", description: "must not be negative" });
  if (request.skip < 0 || request.skip > MAX_SKIP)
    violations.push({ field: "skip", description: "must not be negative" });
  if (violations.length > 0) throw invalidArgument(...violations);
  const size = Math.min(request.pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const token = request.pageToken === "" ? undefined : readToken(call, key, spec, request);
  const inForce = token === undefined ? request : (tokenRequest(spec, token) as unknown as R);
  const orders = parseOrder(inForce.orderBy, spec.orderBy, spec.defaultOrder);
  if (token !== undefined && token.position.length !== orders.length + 1)
    throw wrongPageToken("is not a token of this list");
  const ownScope = scopeOf(inForce.uidp, visible);
  const scope = options.scope?.(ownScope, inForce) ?? ownScope;
  const filters = options.filters?.(inForce) ?? [];
  const foundBy = options.foundBy?.(inForce);
  const sortsMatches = foundBy !== undefined && foundBy !== orders[0]?.column;
  const { rows, total } = await fetch({
    scope,
    filters,
    orders,
    sortsMatches,
    after: token?.position,
    limit: size + 1,
    offset: request.skip,
  });
  const last = rows.length > size ? rows[size - 1] : undefined;
  const nextPageToken =
    last === undefined
      ? ""
      : sealPageToken(key, {
          list: spec.request.typeName,
          request: token?.request ?? withoutPaging(spec, request),
          issuedMs: call.nowMs,
          position: [...orders.map(({ column }) => column), "uid"].map(
            (column) => cell(last, column) as string | number,
          ),
        });
  return {
    rows: rows.length > size ? rows.slice(0, size) : rows,
    nextPageToken,
    totalCount: BigInt(total),
    skipped: request.skip,
  };
}

function withoutPaging<T extends ResourceTable>(spec: ListSpec<T>, request: ListRequest): string {
  const copy = { ...request, pageToken: "", pageSize: 0, skip: 0 };
  return Buffer.from(toBinary(spec.request, copy)).toString("base64");
}

function tokenRequest<T extends ResourceTable>(spec: ListSpec<T>, token: PageToken): ListRequest {
  return fromBinary(spec.request, Buffer.from(token.request, "base64")) as ListRequest;
}

// Expiry is looked at first: an expired token is as good as none, whatever else the request says.
function readToken<T extends ResourceTable>(
  call: Call,
  key: Uint8Array,
  spec: ListSpec<T>,
  request: ListRequest,
): PageToken | undefined {
  const token = openPageToken(key, request.pageToken);
  if (call.nowMs - token.issuedMs > PAGE_TOKEN_LIFETIME_MS) return undefined;
  if (token.list !== spec.request.typeName) throw wrongPageToken("is not a token of this list");
  const own = tokenRequest(spec, token);
  if (request.orderBy !== "" && !sameOrder(spec, request.orderBy, own.orderBy))
    throw wrongPageToken("was given for another order_by");
  const now = reflect(spec.request, request);
  const then = reflect(spec.request, own);
  for (const field of spec.request.fields) {
    if (PAGING.has(field.name) || !now.isSet(field)) continue;
    const [left, right] = [reflect(spec.request, create(spec.request)), reflect(spec.request, create(spec.request))];
    left.set(field, now.get(field));
    if (then.isSet(field)) right.set(field, then.get(field));
    if (!equals(spec.request, left.message, right.message)) throw wrongPageToken(`was given for another ${field.name}`);
  }
  return token;
}

function sameOrder<T extends ResourceTable>(spec: ListSpec<T>, left: string, right: string): boolean {
  const text = (order: string): string => JSON.stringify(parseOrder(order, spec.orderBy, spec.defaultOrder));
  return text(left) === text(right);
}

/** `t.column = value`, for a room's filters. */
export function columnIs(column: string, value: string | number): Condition {
  return sql`${sql.ref(`t.${column}`)} = ${value}`;
}

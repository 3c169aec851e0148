import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { type UIDPFilter, UIDPFilterSchema } from "@moorage/api/messages";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { messageOf } from "@moorage/kernel/core/stored-answer";
import { isStreamed, type Streamed, streamed } from "@moorage/kernel/core/streamed-answer";
import { isWritten, TooHeavyHere, type Written } from "@moorage/kernel/core/written-answer";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { TranslationContext } from "../runtime/methods.ts";
import type { Mapping } from "./mapping.ts";

/** The methods of v2 that a method of v1 is made of, called by its caller. */
export interface V2 {
  /** Calls a method. Throws what it throws. */
  answer<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    how?: Pick<CallData, "replaces">,
  ): Promise<MessageShape<O>>;
  /** Every page of a list, one after the other. */
  pages<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): AsyncGenerator<MessageShape<O>, void, undefined>;
}

// How many pages a list may have that does not end by itself.
const MAX_PAGES = 1_000_000;

export function v2Of({ answer, data: given, hasLeft }: TranslationContext): V2 {
  const data: CallData = { ...given, v1: true };
  // The pages of a list are counted by nobody, and may be large: they are read in this process.
  const inBulk: CallData = { ...data, bulk: true };
  const call = async <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    by: CallData,
  ): Promise<MessageShape<O>> => {
    const answered = await answer(method, by, create(method.input, request));
    if (isStreamed(answered)) throw new Error(`${method.toString()} is of v1`);
    return messageOf(answered) as MessageShape<O>;
  };
  return {
    answer: (method, request, how) => call(method, request, { ...data, ...how }),
    async *pages(method, request) {
      let pageToken = "";
      for (let at = 0; at < MAX_PAGES; at++) {
        if (hasLeft?.() === true) throw new MoorageError(Code.Aborted, "Aborted: the caller has left");
        const page = await call(method, { ...request, pageSize: BULK_PAGE_SIZE, pageToken }, inBulk);
        yield page;
        pageToken = (page as { nextPageToken?: string }).nextPageToken ?? "";
        if (pageToken === "") return;
      }
      throw new Error(`${method.toString()} has no last page`);
    },
  };
}

const MAX_INT32 = 2_147_483_647n;

/** The size of a page of v2 for that of v1, which has more digits. v2 refuses negative ones and bounds large ones. */
export function pageSizeOf(size: bigint): number {
  return size < 0n ? -1 : Number(size < MAX_INT32 ? size : MAX_INT32);
}

/** The most rows that a page has. */
const BULK_PAGE_SIZE = 1000;

/**
 * The whole list of v1 from the pages of v2: a message when one page holds all, otherwise read while it is sent.
 * `toItems` makes the items of a page; pages without items are passed over. The first page is read before this
 * resolves, so that its errors are those of the method.
 */
export async function listed<O extends DescMessage, P>(
  output: O,
  pages: AsyncGenerator<P, void, undefined>,
  toItems: (page: P) => Part | Promise<Part>,
): Promise<MessageShape<O> | Streamed<O>> {
  const read = async (): Promise<Part | undefined> => {
    for (let next = await pages.next(); next.done !== true; next = await pages.next()) {
      const items = await toItems(next.value);
      if (isWritten(items) || items.length > 0) return items;
    }
    return undefined;
  };
  const first = (await read()) ?? [];
  const second = isWritten(first) ? [] : await read();
  if (second === undefined) return create(output, { items: first } as object as MessageInitShape<O>);
  return streamed(
    output,
    (async function* () {
      try {
        yield first;
        for (let part: Part | undefined = second; part !== undefined; part = await read()) yield part;
      } finally {
        await pages.return();
      }
    })(),
  );
}

/** Items of a list, or an answer of the same method with some of them that another process has made. */
type Part = readonly Message[] | Written;

/** Makes a part of a list here, or, when it is too heavy, elsewhere as the answer to a request for that part alone. */
export async function orElsewhere<T>(
  call: Pick<Call, "elsewhere">,
  request: () => Message,
  work: () => Promise<T>,
): Promise<T | Written> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TooHeavyHere)) throw error;
    return await call.elsewhere(request(), error.rows);
  }
}

/** The items that a mapping makes of a page's field. */
export function itemsOf<P, A extends DescMessage, B extends DescMessage>(
  mapping: Mapping<A, B>,
  field: keyof P,
): (page: P) => MessageShape<A>[] {
  return (page) => (page[field] as MessageShape<B>[]).map(mapping.toV1);
}

// No uid has this form: a filter by it finds nothing.
const NO_UID = "-";

/** The filter of v2 with v1's filter by id beside it. */
export function withId(uidp: UIDPFilter | undefined, id: string): UIDPFilter | undefined {
  if (id === "") return uidp;
  const filter = uidp ?? create(UIDPFilterSchema);
  const isAsked = filter.ids.length === 0 || filter.ids.includes(id);
  return { ...filter, ids: [isAsked ? id : NO_UID] };
}

const ROOT = "/";

/** The filter of v2 with v1's filter by parent beside it: both must hold. */
export function withParent(uidp: UIDPFilter | undefined, parent: string): UIDPFilter | undefined {
  if (parent === "") return uidp;
  const filter = uidp ?? create(UIDPFilterSchema);
  // What is below nothing, as the built-in roles are.
  if (parent === ROOT) return filter.childrenOf === "" ? { ...filter, inRoot: true } : { ...filter, ids: [NO_UID] };
  if (filter.childrenOf !== "" && filter.childrenOf !== parent) return { ...filter, ids: [NO_UID] };
  return { ...filter, childrenOf: parent };
}

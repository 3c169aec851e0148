/** What a list method answers: one page. */
export interface Page {
  readonly nextPageToken: string;
}

/** The items of a page: what its one repeated field holds. */
export type ItemOf<P> = { [Key in keyof P]-?: P[Key] extends readonly (infer Item)[] ? Item : never }[Exclude<
  keyof P,
  "$unknown"
>];

/**
 * What calling a list method gives: awaited, one page; iterated (`for await`), all items from that page on, with the
 * further pages asked for as they are needed.
 */
export type Listed<P, Item> = Promise<P> & AsyncIterable<Item>;

/**
 * Lists by pages. `ask` answers the page of a token; without one, the page that the caller asked for. `itemsOf` has
 * the items of a page. Source: AIP-158.
 */
export function listed<P extends Page, Item>(
  ask: (pageToken?: string) => Promise<P>,
  itemsOf: (page: P) => readonly Item[],
): Listed<P, Item> {
  const first = ask();
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      let page = await first;
      for (;;) {
        yield* itemsOf(page);
        if (page.nextPageToken === "") return;
        page = await ask(page.nextPageToken);
      }
    },
  });
}

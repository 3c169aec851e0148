import type { AllBelow, Below } from "./call.ts";

/** What these areas keep, in the order of the list. */
export function allBelow(list: readonly Below[]): AllBelow {
  const of = <K extends keyof Below>(kind: K): NonNullable<Below[K]>[] =>
    list.flatMap((below) => {
      const one = below[kind];
      return one === undefined ? [] : [one];
    });
  return {
    group: of("group"),
    repo: of("repo"),
    identity: of("identity"),
    identityProvider: of("identityProvider"),
    image: of("image"),
  };
}

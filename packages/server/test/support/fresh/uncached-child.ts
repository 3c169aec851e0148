// The server that keeps nothing, in a process of its own: sends its port to its parent, and does what the parent asks.
import { openUncached } from "./uncached-server.ts";
import type { ToChild, FromChild } from "./uncached-process.ts";

const answer = (message: FromChild): void => void process.send?.(message);
const uncached = await openUncached(process.env);
process.on("message", ({ id, mint }: ToChild) => {
  const done = mint === undefined ? uncached.renew().then(() => "") : uncached.mint(mint);
  done.then(
    (text) => answer({ id, text }),
    (error: unknown) => answer({ id, error: String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
answer({ port: uncached.port });

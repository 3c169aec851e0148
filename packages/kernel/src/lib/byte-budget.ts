/** Memory that was taken, in bytes. */
export interface HeldBytes {
  /** Corrects the amount, once it is known. It may then be more than there is, and others wait longer. */
  resize(bytes: number): void;
  /** Gives it back; a second time does nothing. */
  release(): void;
}

export interface ByteBudgetOptions {
  /** What all may hold together. Who asks for more gets it when nobody else holds any. */
  bytes: number;
  /** How many may wait, of one owner and in all. */
  maxWaiting: { owner: number; all: number };
  /** How long each may wait, in milliseconds. */
  waitMs: number;
}

/** A semaphore that counts bytes: who does not get what it asks for waits in order, for a limited time. */
export interface ByteBudget {
  /**
   * Takes the memory. Undefined when it could not be had: too many wait already, or it took too long. `owner`: on whose
   * behalf, so that one does not keep all others waiting.
   */
  take(owner: string, bytes: number): Promise<HeldBytes | undefined>;
  /** How much is held, and how many wait. */
  use(): { bytes: number; waiting: number };
}

interface Waiting {
  owner: string;
  bytes: number;
  timer: NodeJS.Timeout;
  resolve(held: HeldBytes | undefined): void;
}

export function createByteBudget({ bytes: most, maxWaiting, waitMs }: ByteBudgetOptions): ByteBudget {
  const queue: Waiting[] = [];
  let held = 0;
  const fits = (bytes: number): boolean => held === 0 || held + bytes <= most;
  const hold = (asked: number): HeldBytes => {
    let bytes = asked;
    held += bytes;
    return {
      resize(now) {
        if (bytes === 0) return;
        held += now - bytes;
        bytes = now;
        proceed();
      },
      release() {
        held -= bytes;
        bytes = 0;
        proceed();
      },
    };
  };
  const proceed = (): void => {
    for (let [first] = queue; first !== undefined && fits(first.bytes); [first] = queue) {
      queue.shift();
      clearTimeout(first.timer);
      first.resolve(hold(first.bytes));
    }
  };
  return {
    async take(owner, bytes) {
      if (queue.length === 0 && fits(bytes)) return hold(bytes);
      const own = queue.filter((each) => each.owner === owner).length;
      if (queue.length >= maxWaiting.all || own >= maxWaiting.owner) return undefined;
      return await new Promise((resolve) => {
        const give = (): void => {
          queue.splice(queue.indexOf(waiting), 1);
          resolve(undefined);
          // What waits behind it may be smaller.
          proceed();
        };
        const waiting = { owner, bytes, resolve, timer: setTimeout(give, waitMs).unref() };
        queue.push(waiting);
      });
    },
    use: () => ({ bytes: held, waiting: queue.length }),
  };
}

import type { Transactor } from "../core/transactor.ts";

// What the queue and the work that is shared out write makes nothing to send. Pulls that were noted are events.
const QUIET = /^(?:leases\.|events\.(?!notePulls))/;

/** The transactor; `written` is called after whatever it wrote that may have made something to send. */
export function wakingTransactor(transactor: Transactor, written: () => void): Transactor {
  return {
    read: (data, work) => transactor.read(data, work),
    write(name, data, input) {
      const answer = transactor.write(name, data, input);
      if (!QUIET.test(name)) answer.then(written, () => {});
      return answer;
    },
  };
}

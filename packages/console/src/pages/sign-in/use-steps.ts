import { useState } from "react";
import type { Step } from "../../api/account.ts";

/** Runs steps one at a time: keeps what is asked for next, and what went wrong. `onDone`: after the last one. */
export function useSteps(onDone: (step: Extract<Step, { next: "done" }>) => void) {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown; asked?: Exclude<Step, { next: "done" }> }>({
    isBusy: false,
  });
  const run = async (work: () => Promise<Step>): Promise<void> => {
    setState(({ asked }) => ({ isBusy: true, ...(asked && { asked }) }));
    try {
      const step = await work();
      if (step.next === "done") onDone(step);
      setState({ isBusy: step.next === "done", ...(step.next !== "done" && { asked: step }) });
    } catch (error) {
      setState(({ asked }) => ({ isBusy: false, error, ...(asked && { asked }) }));
    }
  };
  return { ...state, run };
}

/**
 * A value, or a promise of it where something is waited for. SQLite answers synchronously: on the way of a read nothing
 * is waited for, and a promise at each step would cost more than the read.
 */
export type Awaitable<T> = T | Promise<T>;

/** Calls `use` with the value: immediately, or once the promise has it. */
export function after<T, R>(value: Awaitable<T>, use: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** Runs the work, and calls `fail` with what it throws or rejects with. */
export function attempt<T>(work: () => Awaitable<T>, fail: (error: unknown) => Awaitable<T>): Awaitable<T> {
  try {
    const result = work();
    return result instanceof Promise ? result.catch(fail) : result;
  } catch (error) {
    return fail(error);
  }
}

/** Runs the work, and then `last`, also after a failure. */
export function lastly<T>(work: () => Awaitable<T>, last: () => void): Awaitable<T> {
  let result: Awaitable<T>;
  try {
    result = work();
  } catch (error) {
    last();
    throw error;
  }
  if (result instanceof Promise) return result.finally(last);
  last();
  return result;
}

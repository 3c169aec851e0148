/** Loads the page after a sign-in anew: a path of this server, and the start for anything else. */
export function goTo(path: string | undefined): void {
  window.location.assign(isOwnPath(path) ? path : "/");
}

/** Whether it is a path of this server: `//other.example` and `\\` are addresses of others for browsers. */
export function isOwnPath(path: string | undefined): path is string {
  return path !== undefined && /^\/(?![/\\])/.test(path);
}

/** The address of the sign-in that leads back to the page. */
export function loginPath(to: string): string {
  return `/login?to=${encodeURIComponent(to)}`;
}

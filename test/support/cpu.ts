/**
 * CPU time in ms that this process, with its threads, takes for something. Unlike a clock it does
 * not go on while other processes have the cores.
 */
export async function cpuTimeOf(act: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

"""Quality bands of links, 7 (best) to 0, from recent load and queue, as DLB samples them.

Junos documentation, "Customize Egress Port Link Quality Metrics for DLB": up to a minimum of the load the band is 7,
above a maximum 0, and the six others divide what is between evenly; load and queue have weights. The load is an
exponentially weighted moving average over the samples; its weight is that of Broadcom's examples of DLB in the OpenBCM
SDK (exponent 3). The queue is what waits at the time of the sample.

A link is sampled when it is examined, at most at the sampling rate. Samples that were not taken
count with the mean load since the last one.
"""

from ailb_gen.sim.engine.jit import compiled, inlined
from ailb_gen.sim.engine.random import power
from ailb_gen.sim.engine.records import State

BEST = 7
# The share of the average that a sample leaves.
HISTORY = 1 - 1 / 8
# Places of the parameters of DLB and those built on it.
WEIGHT, LEAST, MOST, LEAST_QUEUE, MOST_QUEUE, PERIOD, ENTRIES, INACTIVITY, DELTA, PROBABILITY = range(10)


@inlined
def band(value: float, least: float, most: float) -> int:
    """Return the band of a value: 7 up to `least`, 0 above `most`."""
    if value <= least:
        return BEST
    if value > most:
        return 0
    return max(1, BEST - 1 - int((value - least) * (BEST - 1) / (most - least)))


@compiled
def _sample(state: State, link: int, now: int) -> int:
    """Return the band of a link, and keep it."""
    record, parameters = state.links[link], state.parameters
    elapsed = now - record.sampled_at
    # What is still on its way into the wire does not count.
    sent = record.bytes - max(0, record.free - now) // record.byte_ps
    mean = (sent - record.sampled_bytes) * record.byte_ps / elapsed
    record.load = mean + (record.load - mean) * power(HISTORY, int(elapsed / parameters[PERIOD]))
    record.sampled_at, record.sampled_bytes = now, sent
    queued = 0
    if record.backlog:
        classes = state.config[0].classes
        for priority in range(classes):
            if (record.backlog >> priority) & 1:
                queued += state.queues[link * classes + priority].bytes
    by_load = band(100.0 * record.load, parameters[LEAST], parameters[MOST])
    by_queue = band(float(queued), parameters[LEAST_QUEUE], parameters[MOST_QUEUE])
    weight = parameters[WEIGHT]
    record.quality = int((weight * by_load + (100.0 - weight) * by_queue) / 100.0)
    return int(record.quality)


@inlined
def quality(state: State, link: int, now: int) -> int:
    """Return the band of a link at its last sample; it may be time for another one."""
    record = state.links[link]
    if now - record.sampled_at < state.parameters[PERIOD]:
        return int(record.quality)
    return _sample(state, link, now)
